#include "base/id_order.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>

#include "margin/random.h"

namespace margin::internal {
namespace {

// Beside a plain map: ids that rise, that come late, that come twice, and that are asked for and never came.
TEST(IdOrder, FindsWhatAMapFinds) {
  for (const double late : {0.0, 0.02, 0.5, 1.0}) {
    Random random(static_cast<std::uint64_t>(late * 100) + 1);
    IdOrder order;
    std::map<Uuid, std::uint64_t> numbers;
    std::deque<Uuid> kept;
    std::uint64_t added = 0;
    std::int64_t now = 1'000'000;
    for (int i = 0; i < 20'000; ++i) {
      now += random.below(3) == 0 ? 1 : 0;
      Uuid id = Uuid::make(random.chance(late) ? now - static_cast<std::int64_t>(random.below(1000)) : now, random);
      if (!kept.empty() && random.below(10) == 0) id = kept[random.below(kept.size())];
      const auto number = order.add(id);
      const bool is_new = numbers.emplace(id, added).second;
      ASSERT_EQ(number, is_new ? std::optional(added) : std::nullopt);
      if (is_new) {
        ++added;
        kept.push_back(id);
      }
      while (kept.size() > 500 || (!kept.empty() && random.below(50) == 0)) {
        order.forget(kept.front());
        ASSERT_FALSE(order.contains(kept.front()));
        numbers.erase(kept.front());
        kept.pop_front();
      }
      if (!kept.empty()) {
        const Uuid known = kept[random.below(kept.size())];
        ASSERT_EQ(order.find(known), numbers.at(known));
      }
      const Uuid unknown = Uuid::make(now - static_cast<std::int64_t>(random.below(1000)), random);
      ASSERT_EQ(order.contains(unknown), numbers.contains(unknown));
    }
  }
}

}  // namespace
}  // namespace margin::internal
