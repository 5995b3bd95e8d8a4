#include "log/simulated_log.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "log/log_fixture.h"

namespace margin {
namespace {

struct History {
  SimulatedLog log;
  std::map<std::string, std::vector<std::uint64_t>> acknowledged;  // numbers of events, in the order told
  std::set<std::uint64_t> failed;
  std::vector<std::string> order;  // of pools, as told

  History(std::uint64_t seed, const LogFaults& faults) : log(seed, faults) {
    for (std::uint64_t n = 0; n < 300; ++n) {
      const std::string pool = n % 3 == 0 ? "a" : n % 3 == 1 ? "b" : "c";
      EXPECT_TRUE(log.append({.pool = pool, .event = numbered_event(n)},
                             [this, pool, n](const Result<std::uint64_t>& offset) {
                               order.push_back(pool);
                               acknowledged[pool].push_back(n);
                               if (!offset) failed.insert(n);
                             })
                      .ok());
      if (n % 7 == 0) log.step();
    }
  }
  // How often event n is in its pool.
  long copies(std::uint64_t n) {
    const std::string pool = n % 3 == 0 ? "a" : n % 3 == 1 ? "b" : "c";
    const std::vector<Record> records = log.read(pool, 0, 10'000).value();
    return std::count_if(records.begin(), records.end(), [&](const Record& record) { return record.event.id == numbered_event(n).id; });
  }
};

TEST(SimulatedLog, APoolIsAcknowledgedInOrderWhateverHappensBetweenPools) {
  History run(1, {.failed = 0.1, .unknown = 0.1, .twice = 0.1, .late = 0.3});
  run.log.flush();
  EXPECT_EQ(run.order.size(), 300);
  for (const auto& [pool, numbers] : run.acknowledged) EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << pool;
  bool reordered = false;
  for (std::size_t i = 0; i + 3 < run.order.size(); ++i) reordered |= run.order[i] == run.order[i + 1] && run.order[i] == run.order[i + 2];
  EXPECT_TRUE(reordered);
}

TEST(SimulatedLog, FailedUnknownAndDoubledRecordsAreWhatTheyAreSaidToBe) {
  History failing(2, {.failed = 0.2});
  failing.log.flush();
  EXPECT_FALSE(failing.failed.empty());
  for (std::uint64_t n = 0; n < 300; ++n) EXPECT_EQ(failing.copies(n), failing.failed.contains(n) ? 0 : 1);
  History unknown(3, {.unknown = 0.2});
  unknown.log.flush();
  EXPECT_FALSE(unknown.failed.empty());
  for (std::uint64_t n = 0; n < 300; ++n) EXPECT_EQ(unknown.copies(n), 1);
  History twice(4, {.twice = 0.2});
  twice.log.flush();
  long copies = 0;
  for (std::uint64_t n = 0; n < 300; ++n) copies += twice.copies(n);
  EXPECT_GT(copies, 320);
}

TEST(SimulatedLog, ASeedIsOneHistory) {
  const LogFaults faults{.failed = 0.1, .unknown = 0.1, .twice = 0.1, .late = 0.3};
  History first(5, faults);
  History second(5, faults);
  first.log.flush();
  second.log.flush();
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.failed, second.failed);
}

TEST(SimulatedLog, ACrashTakesWhatWasNotWrittenAndNoMore) {
  History run(6, {.late = 0.5});
  const std::size_t told = run.order.size();
  run.log.crash();
  run.log.flush();
  EXPECT_EQ(run.order.size(), told);
  for (const auto& [pool, numbers] : run.acknowledged) {
    for (const std::uint64_t n : numbers) EXPECT_EQ(run.copies(n), 1);
  }
}

}  // namespace
}  // namespace margin
