// Expected values: the xxhsum program of Debian's xxhash 0.8.1 (xxhsum -H2).
#include "margin/digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/digest_stream.h"
#include "margin/random.h"

namespace margin {
namespace {

TEST(Digest, EqualsTheReferenceProgramAtEveryLengthClass) {
  EXPECT_EQ(digest_of("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digest_of("a").hex(), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(digest_of("abc").hex(), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(digest_of("margin").hex(), "54a2c987fa575773127177ec634b5477");
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>((i * 7 + 3) % 256));
  EXPECT_EQ(digest_of(bytes.substr(0, 17)).hex(), "bfd327edcc2fbd12eeed7654312a26d7");
  EXPECT_EQ(digest_of(bytes.substr(0, 129)).hex(), "293e4968c4619023bd91ce7ace4d385b");
  EXPECT_EQ(digest_of(bytes.substr(0, 241)).hex(), "ac6c3492c3d6b45d8beadd3a8874fe17");
  EXPECT_EQ(digest_of(bytes).hex(), "6bcc7eff62da44c26c4f14bd97bd9e82");
}

TEST(Digest, EveryBitCounts) {
  std::string bytes(100, 'x');
  std::set<Digest> seen = {digest_of(bytes)};
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      seen.insert(digest_of(bytes));
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
  EXPECT_EQ(seen.size(), 801U);
}

TEST(Digest, HexKeepsLeadingZeros) { EXPECT_EQ((Digest{0xf, 0x1}).hex(), "000000000000000f0000000000000001"); }

TEST(DigestStream, OfPiecesIsTheDigestOfTheWhole) {
  Random random(5);
  for (const std::size_t size : {0U, 1U, 240U, 241U, 1'000U, 100'000U}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    internal::DigestStream stream;
    for (std::size_t at = 0; at < size;) {
      const std::size_t piece = std::min<std::size_t>(size - at, 1 + random.below(700));
      stream.add(std::string_view(bytes).substr(at, piece));
      at += piece;
    }
    EXPECT_EQ(stream.digest(), digest_of(bytes)) << size;
  }
}

}  // namespace
}  // namespace margin
