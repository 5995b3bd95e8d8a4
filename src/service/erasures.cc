#include "service/erasures.h"

#include <utility>

namespace margin::service {

void Erasures::add(ServedPool& pool, Uuid decision, std::string note, Done done) {
  waiting_.push_back({&pool, {.decision = decision, .pool = pool.name(), .note = std::move(note)}, std::move(done)});
  if (!under_way_) start();
}

void Erasures::start() {
  under_way_ = true;
  const auto round = std::make_shared<Round>(std::exchange(waiting_, {}));
  side_.run([this, round] {
    std::vector<ErasureWanted> wanted;
    for (const Asked& asked : *round) wanted.push_back(asked.wanted);
    const auto erased = std::make_shared<const Result<std::vector<Erasure>>>(log_.erase(wanted));
    post_([this, alive = alive_, round, erased] {
      if (!*alive) return;
      finish(*round, *erased);
      under_way_ = false;
      if (!waiting_.empty()) start();
    });
  });
}

void Erasures::finish(const Round& round, const Result<std::vector<Erasure>>& erased) {
  for (std::size_t i = 0; i < round.size(); ++i) {
    const Asked& asked = round[i];
    if (erased) asked.pool->forget_texts(asked.wanted.decision);
    asked.done(erased ? Result<Erasure>((*erased)[i]) : Result<Erasure>(erased.error()));
  }
}

}  // namespace margin::service
