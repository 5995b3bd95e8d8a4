// The queue alone, before a store that fails when it is told to.
#include "log/commit_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
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

}  // namespace
}  // namespace margin::internal
