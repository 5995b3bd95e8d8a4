#include "log/stored_row.h"

#include <cstring>

#include "log/raw_integer.h"

namespace margin::internal {
namespace {

constexpr std::size_t kHeadBytes = 1 + sizeof(std::uint32_t);
constexpr std::size_t kRecordHeadBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);

}  // namespace

void RowContent::add(std::uint64_t chain, std::string_view record) {
  if (empty()) bytes_.assign(kHeadBytes, '\0');
  ++count_;
  put_integer(bytes_, chain);
  put_integer(bytes_, static_cast<std::uint32_t>(record.size()));
  bytes_.append(record);
}

std::string_view RowContent::bytes() {
  if (count_ == 1) return std::string_view(bytes_).substr(kHeadBytes + kRecordHeadBytes);
  std::memcpy(bytes_.data() + 1, &count_, sizeof count_);
  return bytes_;
}

void RowContent::clear() {
  bytes_.clear();
  count_ = 0;
}

RowRecords::RowRecords(std::string_view content, std::uint64_t chain) : rest_(content), chain_(chain) {
  if (content.size() < kHeadBytes || content.front() != '\0') return;
  const auto count = integer_at<std::uint32_t>(content, 1);
  // What says something impossible stays one record, which its chain will not match.
  if (count < 2 || count > (content.size() - kHeadBytes) / kRecordHeadBytes) return;
  count_ = count;
  rest_.remove_prefix(kHeadBytes);
}

std::optional<RowRecords::Stored> RowRecords::next() {
  if (count_ == 1) return Stored{chain_, rest_};
  if (rest_.size() < kRecordHeadBytes) return std::nullopt;
  const auto chain = integer_at<std::uint64_t>(rest_, 0);
  const auto size = integer_at<std::uint32_t>(rest_, sizeof chain);
  rest_.remove_prefix(kRecordHeadBytes);
  if (size > rest_.size()) return std::nullopt;
  const Stored stored{chain, rest_.substr(0, size)};
  rest_.remove_prefix(size);
  const bool last = ++given_ == count_;
  if (last && (!rest_.empty() || chain != chain_)) return std::nullopt;
  return stored;
}

}  // namespace margin::internal
