// Output: bytes on their way out, appended piece by piece, or written by hand where short pieces follow each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace margin::http {

class Output {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view str() const { return {bytes_.get(), size_}; }

  // Where `bytes` more may be written by hand, and where that ended.
  [[nodiscard]] char* begin(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    return bytes_.get() + size_;
  }
  void end(const char* at) { size_ = static_cast<std::size_t>(at - bytes_.get()); }

  void append(std::string_view bytes) { end(std::copy(bytes.begin(), bytes.end(), begin(bytes.size()))); }

  // Storage up to `kept` bytes stays.
  void clear(std::size_t kept) {
    size_ = 0;
    if (capacity_ <= kept) return;
    bytes_ = nullptr;
    capacity_ = 0;
  }

 private:
  void grow(std::size_t bytes) {
    capacity_ = std::max(2 * capacity_, size_ + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    std::copy_n(bytes_.get(), size_, larger.get());
    bytes_ = std::move(larger);
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace margin::http
