#include "http/output.h"

#include <gtest/gtest.h>

#include <string>

namespace margin::http {
namespace {

TEST(OutputTest, KeepsWhatWasAppendedAndWrittenByHand) {
  Output output;
  std::string expected;
  output.append({});
  EXPECT_EQ(output.str(), "");
  for (int i = 0; i < 200; ++i) {
    const std::string piece(static_cast<std::size_t>(i * i), static_cast<char>('a' + i % 26));
    output.append(piece);
    char* const to = output.begin(8);
    to[0] = '<';
    to[1] = '>';
    output.end(to + 2);
    expected += piece + "<>";
    ASSERT_EQ(output.str(), expected);
  }
}

TEST(OutputTest, IsEmptyOnceItWasCleared) {
  Output output;
  for (const std::size_t kept : {std::size_t{0}, std::size_t{4096}}) {
    output.append(std::string(1000, 'x'));
    output.clear(kept);
    EXPECT_EQ(output.size(), 0U);
    output.append("again");
    EXPECT_EQ(output.str(), "again");
    output.clear(kept);
  }
}

}  // namespace
}  // namespace margin::http
