#include <cmath>
#include <initializer_list>

#include "margin/exact_sum.h"
#include "margin/math.h"
#include "trace.h"

namespace margin::determinism {

void probe_math() {
  constexpr int kDraws = 100'000;
  using Function = double (*)(double);
  struct Item {
    const char* name;
    Function function;
  };
  for (const Item& item :
       {Item{"exp", exp}, Item{"expm1", expm1}, Item{"log", log}, Item{"log1p", log1p}, Item{"sigmoid", sigmoid}, Item{"logit", logit}}) {
    Random random(1);
    Trace trace;
    for (int i = 0; i < kDraws; ++i) {
      trace.see(item.function(std::bit_cast<double>(random.bits())));
      trace.see(item.function(1500.0 * random.uniform() - 750.0));
      trace.see(item.function(random.uniform()));
    }
    trace.print(std::string("math ") + item.name);
  }

  Random random(2);
  Trace normals;
  ExactSum sum;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    normals.see(x);
    sum.add(x);
  }
  normals.see(sum.value());
  normals.print("random normal");
}

}  // namespace margin::determinism
