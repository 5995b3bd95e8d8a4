// The order of what a loop runs.
#include "http/loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "http/executor.h"

namespace margin::http {
namespace {

TEST(Loop, EndOfATurnFollowsPostedWorkBeforeAnythingElse) {
  Loop loop;
  std::string said;
  std::optional<TurnEnd> end;
  end.emplace(loop, [&] { said += loop.in_turn() ? '!' : '.'; });
  for (const char c : {'a', 'b'}) loop.post([&, c] { said += loop.in_turn() ? c : '!'; });
  loop.post([&] { end.reset(); });
  loop.post([&] {
    said += 'c';
    loop.stop();
  });
  EXPECT_FALSE(loop.in_turn());
  loop.run();
  EXPECT_EQ(said, "a.b.c");
}

TEST(Loop, WorkThatThrowsEndsItsTurn) {
  Loop loop;
  loop.post([] { throw std::runtime_error("broken"); });
  EXPECT_THROW(loop.run(), std::runtime_error);
  EXPECT_FALSE(loop.in_turn());
}

TEST(Loop, WhatIsPostedForLaterHasATurnOfItsOwnThen) {
  using Clock = std::chrono::steady_clock;
  Loop loop;
  std::string said;
  TurnEnd end(loop, [&] { said += loop.in_turn() ? '!' : '.'; });
  const Clock::time_point begin = Clock::now();
  constexpr std::chrono::microseconds kLater(1500);
  loop.post_after(2 * kLater, [&] {
    said += 'c';
    loop.stop();
  });
  loop.post_after(kLater, [&] {
    said += loop.in_turn() ? 'b' : '!';
    EXPECT_GE(Clock::now() - begin, kLater);
  });
  loop.post([&] { said += 'a'; });
  loop.run();
  EXPECT_EQ(said, "a.b.c.");
  EXPECT_GE(Clock::now() - begin, 2 * kLater);
}

TEST(Loop, WhatIsPostedForLaterGoesWithTheLoop) {
  const auto held = std::make_shared<int>();
  {
    Loop loop;
    loop.post_after(std::chrono::hours(1), [held] { FAIL() << "after the stop"; });
    loop.post([&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Loop, RoundsEndWhenNeitherSocketsNorPostedWorkAreLeft) {
  Loop loop;
  std::string said;
  int sockets = 2;
  loop.post([&] {
    in_rounds(loop, 16, [&] {
      if (sockets == 0) return false;
      said += 's';
      // Whatever it posts comes after it, and what that posts after the sockets of the next round.
      loop.post([&] {
        said += 'p';
        loop.post([&] { said += 'q'; });
      });
      return --sockets >= 0;
    });
    said += '.';
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  EXPECT_EQ(said, "spsqpq.");
}

TEST(Loop, RoundsAreBoundedAndWhatIsLeftRunsAfterThem) {
  Loop loop;
  std::string said;
  std::function<void()> again = [&] {
    said += 'p';
    if (said.size() < 6) return loop.post(again);
    loop.stop();
  };
  bool begun = false;
  loop.post([&] {
    // Posted within the rounds, so that nobody but they knows of it.
    in_rounds(loop, 3, [&] {
      if (!std::exchange(begun, true)) loop.post(again);
      return true;
    });
    said += '.';
  });
  const Timer patience = loop.after(std::chrono::seconds(10), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(said, "ppp.pp");
}

TEST(Loop, RoundsEndAtAStop) {
  Loop loop;
  int rounds = 0;
  loop.post([&] {
    in_rounds(loop, 100, [&] {
      if (++rounds == 2) loop.stop();
      return true;
    });
  });
  loop.post([] { FAIL() << "posted before the stop, but not run by then"; });
  loop.run();
  EXPECT_EQ(rounds, 2);
}

TEST(Loop, WhatOthersPostDuringRoundsIsNotForgotten) {
  Loop loop;
  constexpr int kPosts = 20'000;
  int ran = 0;
  std::thread other([&] {
    for (int i = 0; i < kPosts; ++i) {
      loop.post([&] {
        if (++ran == kPosts) loop.stop();
      });
    }
  });
  std::function<void()> round = [&] {
    in_rounds(loop, 2, [] { return false; });
    if (ran < kPosts / 2) loop.post(round);  // then only the other thread wakes the loop
  };
  loop.post(round);
  loop.run();
  other.join();
  EXPECT_EQ(ran, kPosts);
}

}  // namespace
}  // namespace margin::http
