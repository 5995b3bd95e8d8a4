#include "log/state_file.h"

#include <gtest/gtest.h>

namespace margin {
namespace {

const StateFile kState{.pool = "law", .offset = 12, .snapshot = "the bytes of a snapshot"};

TEST(StateFile, ComesBack) {
  const StateFile back = decode_state_file(encode_state_file(kState)).value();
  EXPECT_EQ(back.pool, kState.pool);
  EXPECT_EQ(back.offset, kState.offset);
  EXPECT_EQ(back.snapshot, kState.snapshot);
}

TEST(StateFile, AnyChangedByteIsFound) {
  const std::string bytes = encode_state_file(kState);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    EXPECT_FALSE(decode_state_file(changed).ok()) << i;
  }
}

TEST(StateFile, AnyCutIsFound) {
  const std::string bytes = encode_state_file(kState);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(decode_state_file(bytes.substr(0, size)).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(decode_state_file(bytes + "x").error().code, ErrorCode::kCorrupt);
}

TEST(StateFile, ANewerOneIsRefusedByName) {
  std::string bytes = encode_state_file(kState);
  bytes[13] = 9;
  const auto refused = decode_state_file(bytes);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("version 9"), std::string::npos);
}

}  // namespace
}  // namespace margin
