#include "base/same_text.h"

#include <gtest/gtest.h>

#include <string>

namespace margin::internal {
namespace {

TEST(SameTextTest, TellsEveryByteOfEveryLength) {
  EXPECT_TRUE(same_text("", {}));
  for (std::size_t length = 0; length <= 20; ++length) {
    const std::string text(length, 'a');
    EXPECT_TRUE(same_text(text, std::string(length, 'a'))) << length;
    EXPECT_FALSE(same_text(text, text + 'a')) << length;
    for (std::size_t place = 0; place < length; ++place) {
      std::string other = text;
      other[place] = 'b';
      EXPECT_FALSE(same_text(text, other)) << length << " at " << place;
    }
  }
}

}  // namespace
}  // namespace margin::internal
