// Encoder and Decoder: the bytes of snapshots. Little-endian, fixed width but for Small, doubles by their bits; strings and lists carry
// their length. The same state always gives the same bytes, so a digest of the bytes is a digest of the state.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "margin/result.h"

namespace margin::internal {

// A number that is mostly below 128: seven bits to a byte, the lowest first, and the eighth says whether more follow.
struct Small {
  std::uint32_t value = 0;
};

class Encoder {
 public:
  // Integers, flags and doubles one after the other, as each by itself would be, and appended at once.
  template <class... T>
  void values(T... values) {
    char bytes[(kBytesMax<T> + ...)];
    char* to = bytes;
    ((to = put(to, values)), ...);
    bytes_.append(bytes, static_cast<std::size_t>(to - bytes));
  }
  template <std::integral T>
  void integer(T value) {
    values(value);
  }
  void flag(bool value) { values(value); }
  void real(double value) { values(value); }
  void text(std::string_view value) {
    integer(static_cast<std::uint64_t>(value.size()));
    bytes_.append(value);
  }
  // Bytes that an Encoder made.
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void reals(const std::vector<double>& values) {
    integer(static_cast<std::uint64_t>(values.size()));
    for (const double value : values) real(value);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

 private:
  template <class T>
  static constexpr std::size_t kBytesMax = std::same_as<T, Small> ? 5 : sizeof(T);

  template <std::integral T>
  static char* put(char* to, T value) {
    std::memcpy(to, &value, sizeof(T));
    if constexpr (std::endian::native == std::endian::big) std::reverse(to, to + sizeof(T));
    return to + sizeof(T);
  }
  static char* put(char* to, double value) { return put(to, std::bit_cast<std::uint64_t>(value)); }
  static char* put(char* to, Small small) {
    std::uint32_t rest = small.value;
    for (; rest >= 0x80; rest >>= 7) *to++ = static_cast<char>(rest | 0x80);
    *to++ = static_cast<char>(rest);
    return to;
  }

  std::string bytes_;
};

// Reads what an Encoder wrote. After the first failure every further read gives zero and ok() is false, so a reader checks once, at
// the end; lengths are checked against the bytes that remain, so corrupt input cannot ask for much memory.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  template <std::integral T>
  T integer() {
    if (bytes_.size() < sizeof(T)) {
      fail();
      return T{};
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  // As few bytes as it needs: equal values have equal bytes.
  std::uint32_t small() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const auto byte = integer<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if ((byte == 0 && shift > 0) || value > 0xffffffff) break;
      return static_cast<std::uint32_t>(value);
    }
    fail();
    return 0;
  }
  bool flag() {
    const auto value = integer<std::uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }
  double real() { return std::bit_cast<double>(integer<std::uint64_t>()); }
  // A length of things that take at least `each` bytes.
  std::size_t length(std::size_t each) { return length(integer<std::uint64_t>(), each); }
  std::size_t small_length(std::size_t each) { return length(small(), each); }
  std::string text() {
    const std::size_t size = length(1);
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  std::vector<double> reals() {
    std::vector<double> values(length(sizeof(double)));
    for (double& value : values) value = real();
    return values;
  }
  void fail() {
    ok_ = false;
    bytes_ = {};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size(); }
  // Ok when everything was read and nothing is left over.
  [[nodiscard]] Status finish(std::string_view what) const {
    if (ok_ && bytes_.empty()) return {};
    return {ErrorCode::kCorrupt, std::string(what) + ": the bytes are truncated or not a snapshot of this kind"};
  }

 private:
  std::size_t length(std::uint64_t value, std::size_t each) {
    if (value <= bytes_.size() / (each == 0 ? 1 : each)) return static_cast<std::size_t>(value);
    fail();
    return 0;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace margin::internal
