// RateLimiter: how many requests a key may make. One token bucket per key that holds a second's worth, at least one request.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/text_hash.h"

namespace margin::access {

// Thread-safe. Memory is bounded by `keys_max` buckets; a bucket that is full again is dropped when another needs its place.
class RateLimiter {
 public:
  explicit RateLimiter(std::size_t keys_max) : keys_max_(keys_max) {}

  // 0: the request may go on, and is counted. Otherwise the milliseconds until one may. A rate of 0 is no limit. `now_ms` is a steady
  // clock's; where it goes back no time has passed.
  [[nodiscard]] std::int64_t wait_ms(std::string_view id, double requests_per_second, std::int64_t now_ms);

  [[nodiscard]] std::size_t buckets() const;

 private:
  struct Bucket {
    double tokens = 0.0;
    double rate = 0.0;
    std::int64_t refilled_ms = 0;
  };
  [[nodiscard]] static Bucket refilled(Bucket bucket, std::int64_t now_ms);
  void make_room(std::int64_t now_ms);

  const std::size_t keys_max_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Bucket, TextHash, std::equal_to<>> buckets_;
};

}  // namespace margin::access
