// The order of what a loop runs.
#include "http/loop.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

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

}  // namespace
}  // namespace margin::http
