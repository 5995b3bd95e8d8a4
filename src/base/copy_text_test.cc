#include "base/copy_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace margin::internal {
namespace {

TEST(CopyTextTest, CopiesEveryByteOfEveryLengthAndNoMore) {
  for (std::size_t length = 0; length <= 40; ++length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('A' + i);
    std::vector<std::uint8_t> copied(length + 2, '#');
    copy_text(copied.data() + 1, text);
    EXPECT_EQ(std::string(copied.begin(), copied.end()), "#" + text + "#");
  }
}

}  // namespace
}  // namespace margin::internal
