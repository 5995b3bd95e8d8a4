// The queue alone, before a store that fails when it is told to.
#include "log/commit_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "log/log_fixture.h"

namespace margin::internal {
namespace {

TEST(CommitQueue, WhoComesDuringACommitIsInTheNextAndAllHearInTheirOrder) {
  std::atomic<bool> store_is_asked = false;
  std::atomic<bool> store_is_held = true;
  std::vector<std::size_t> commits;
  CommitQueue queue({}, {.commit = [&](std::span<Waiting> batch) -> Status {
                           store_is_asked = true;
                           store_is_asked.notify_all();
                           store_is_held.wait(true);
                           commits.push_back(batch.size());
                           return commits.size() == 1 ? Status(ErrorCode::kUnavailable, "broken") : Status();
                         },
                         .commit_at_once = {},
                         .probe = [] { return Status(); }});
  std::string order;
  const auto append = [&](char name) {
    queue.cork();
    ASSERT_TRUE(queue
                    .append({.pool = "p", .event = numbered_event(1)},
                            [&order, name](const Result<std::uint64_t>& offset) {
                              order += name;
                              order += offset.ok() ? '+' : '-';
                            })
                    .ok());
    queue.uncork();
  };
  append('a');
  store_is_asked.wait(false);
  append('b');
  append('c');
  EXPECT_EQ(queue.figures().waiting, 3);
  store_is_held = false;
  store_is_held.notify_all();
  queue.flush();
  EXPECT_EQ(order, "a-b+c+");
  EXPECT_EQ(commits, (std::vector<std::size_t>{1, 2}));
}

// Several threads append, in groups too; one corks, another flushes; commits fail now and then, and those at once cannot always be made.
// `heard` and `written` have no lock: the queue lets one at a time use the store and acknowledge.
TEST(CommitQueue, EachIsHeardOnceInTheOrderOfTheLogAndGroupsStayTogetherWhateverFails) {
  constexpr std::uint64_t kThreads = 3, kEach = 3000;
  for (const bool waits_for_disk : {true, false}) {
    std::uint64_t written = 0;
    Random luck(1);
    const auto write = [&](std::span<Waiting> batch) {
      for (Waiting& item : batch) item.offset = written++;
    };
    CommitQueue::Store store{.commit = [&](std::span<Waiting> batch) -> Status {
                               if (luck.chance(0.3)) return {ErrorCode::kUnavailable, "broken"};
                               write(batch);
                               return {};
                             },
                             .commit_at_once = {},
                             .probe = [&] { return luck.chance(0.5) ? Status() : Status(ErrorCode::kUnavailable, "broken"); }};
    if (!waits_for_disk) {
      store.commit_at_once = [&](std::span<Waiting> batch) {
        const bool done = luck.chance(0.8);
        if (done) write(batch);
        return done;
      };
    }
    struct Heard {
      std::uint64_t thread, number, group;
      bool ok;
    };
    std::vector<Heard> heard;
    std::uint64_t acknowledged = 0;
    CommitQueue queue({.probe_interval = std::chrono::milliseconds(1)}, store);
    const auto append = [&](std::uint64_t thread) {
      Random random(2 + thread);
      const Entry entry{.pool = "p", .event = numbered_event(1)};
      for (std::uint64_t number = 0; number < kEach;) {
        if (thread == 0) queue.cork();
        for (std::uint64_t i = random.below(thread == 0 ? 20 : 2); i-- > 0 && number < kEach;) {
          std::vector<EventLog::Grouped> group;
          const std::uint64_t first = number;
          for (std::uint64_t left = 1 + random.below(3); left-- > 0 && number < kEach; ++number) {
            group.push_back({&entry, [&, thread, number, first](const Result<std::uint64_t>& offset) {
                               heard.push_back({thread, number, first, offset.ok()});
                               if (offset.ok()) {
                                 EXPECT_EQ(*offset, acknowledged++);
                               }
                             }});
          }
          ASSERT_TRUE(queue.append_together(group).ok());
        }
        if (thread == 0) queue.uncork();
        if (thread == 1 && random.chance(0.01)) queue.flush();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(append, thread);
    }
    queue.close();
    EXPECT_EQ(acknowledged, written);
    ASSERT_EQ(heard.size(), kThreads * kEach);
    std::vector<std::uint64_t> next(kThreads, 0);
    for (std::size_t i = 0; i < heard.size(); ++i) {
      EXPECT_EQ(heard[i].number, next[heard[i].thread]++);
      if (heard[i].number == heard[i].group) continue;
      EXPECT_EQ(heard[i].ok, heard[i - 1].ok) << "one of a group";
      EXPECT_EQ(heard[i].thread, heard[i - 1].thread);
    }
  }
}

}  // namespace
}  // namespace margin::internal
