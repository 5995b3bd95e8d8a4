#include "access/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace margin::access {
namespace {

double capacity(double rate) { return std::max(1.0, rate); }

}  // namespace

RateLimiter::Bucket RateLimiter::refilled(Bucket bucket, std::int64_t now_ms) {
  if (now_ms <= bucket.refilled_ms) return bucket;
  const double seconds = static_cast<double>(now_ms - bucket.refilled_ms) / 1000.0;
  bucket.tokens = std::min(capacity(bucket.rate), bucket.tokens + seconds * bucket.rate);
  bucket.refilled_ms = now_ms;
  return bucket;
}

void RateLimiter::make_room(std::int64_t now_ms) {
  std::erase_if(buckets_, [&](const auto& entry) {
    const Bucket bucket = refilled(entry.second, now_ms);
    return bucket.tokens >= capacity(bucket.rate);
  });
  // More busy keys than places: the bound on memory comes before exactness.
  if (buckets_.size() >= keys_max_) buckets_.erase(buckets_.begin());
}

std::int64_t RateLimiter::wait_ms(std::string_view id, double requests_per_second, std::int64_t now_ms) {
  if (requests_per_second <= 0.0) return 0;
  const std::lock_guard lock(mutex_);
  auto found = buckets_.find(id);
  if (found == buckets_.end()) {
    if (buckets_.size() >= keys_max_) make_room(now_ms);
    found = buckets_.emplace(std::string(id), Bucket{capacity(requests_per_second), requests_per_second, now_ms}).first;
  }
  Bucket& bucket = found->second = refilled(found->second, now_ms);
  bucket.rate = requests_per_second;  // a reload may have changed it
  bucket.tokens = std::min(bucket.tokens, capacity(bucket.rate));
  if (bucket.tokens >= 1.0) {
    bucket.tokens -= 1.0;
    return 0;
  }
  constexpr double kDayMs = 86'400'000.0;  // nobody waits longer, and it fits an integer
  return static_cast<std::int64_t>(std::clamp(std::ceil((1.0 - bucket.tokens) / bucket.rate * 1000.0), 1.0, kDayMs));
}

std::size_t RateLimiter::buckets() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace margin::access
