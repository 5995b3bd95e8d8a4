// Integers among the bytes of the store's files, little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace margin::internal {

static_assert(std::endian::native == std::endian::little);

// The bytes must be there.
template <class Integer>
Integer integer_at(std::string_view bytes, std::size_t place) {
  Integer value = 0;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

template <class Integer>
void put_integer(std::string& bytes, Integer value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

}  // namespace margin::internal
