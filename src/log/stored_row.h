// What a row of the table `events` holds: one record as it is, or several that were committed together. Several begin with a zero byte,
// which no record does, then comes their number, and for each its chain, its length and its bytes (little-endian: 4, 8 and 4 bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace margin::internal {

// More bytes than that do not share a row: whoever wants one record reads all of its row.
inline constexpr std::size_t kRowBytesMax = std::size_t{64} << 10;

// Gathers the records of a row.
class RowContent {
 public:
  // `chain`: after this record.
  void add(std::uint64_t chain, std::string_view record);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool takes(std::string_view record) const { return empty() || bytes_.size() + record.size() <= kRowBytesMax; }
  // What the row is to hold. Valid until the next call of another function.
  [[nodiscard]] std::string_view bytes();
  void clear();

 private:
  std::string bytes_;
  std::uint32_t count_ = 0;
};

// Takes a row apart again. `chain`: of the row, which is that of its last record.
class RowRecords {
 public:
  struct Stored {
    std::uint64_t chain = 0;
    std::string_view bytes;
  };

  RowRecords(std::string_view content, std::uint64_t chain);

  // How many the row says it has: at least one.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The next one, as often as count() says. Nothing: what is left is not what was written.
  [[nodiscard]] std::optional<Stored> next();

 private:
  std::string_view rest_;
  std::uint64_t chain_;
  std::uint64_t count_ = 1;
  std::uint64_t given_ = 0;
};

}  // namespace margin::internal
