// The queue alone, before a store that fails when it is told to.
#include "log/commit_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "log/log_fixture.h"

namespace margin::internal {
namespace {

TEST(CommitQueue, AcknowledgementsKeepTheirOrderWhereTheDiskFailsAndThenACommit) {
  std::atomic<bool> disk_is_asked = false;
  std::atomic<bool> disk_is_held = true;
  std::atomic<bool> at_once = true;
  std::atomic<int> syncs = 0;
  const Error broken{ErrorCode::kUnavailable, "broken"};
  CommitQueue queue({}, {.commit = [&](std::span<Waiting>) -> Status { return broken; },
                         .commit_at_once = [&](std::span<Waiting>) { return at_once.load(); },
                         .sync = [&](std::size_t) -> Status {
                           disk_is_asked = true;
                           disk_is_asked.notify_all();
                           disk_is_held.wait(true);
                           return ++syncs == 1 ? Status(broken) : Status();
                         },
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
  disk_is_asked.wait(false);
  append('b');  // written while the disk is asked for the one before
  at_once = false;
  append('c');
  disk_is_held = false;
  disk_is_held.notify_all();
  queue.flush();
  EXPECT_EQ(order, "a-b+c-");
}

}  // namespace
}  // namespace margin::internal
