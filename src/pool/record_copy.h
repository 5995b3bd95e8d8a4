// RecordCopy: the decisions of a pool as they were at one moment, turned into bytes piece by piece while they go on changing. Records are
// written in their order; one that changes or goes before its turn is written as it was.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"

namespace margin::internal {

class RecordCopy {
 public:
  using Pieces = std::vector<std::string>;

  // Of the records with the numbers from `first` to before `end`.
  RecordCopy(std::uint64_t first, std::uint64_t end) : next_(first), end_(end) { out_.integer(end - first); }

  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] bool complete() const { return next_ == end_; }
  // The record has yet to be written, and nothing is kept of it.
  [[nodiscard]] bool awaits(std::uint64_t number) const { return number >= next_ && number < end_ && !kept_.contains(number); }

  // `save` writes the record to an Encoder. Keeps it as it is, since it is about to change.
  template <class Save>
  void keep(std::uint64_t number, const Save& save) {
    Encoder out;
    save(out);
    kept_.emplace(number, out.take());
  }
  // Writes the next record.
  template <class Save>
  void write_next(const Save& save) {
    const auto kept = kept_.find(next_);
    if (kept == kept_.end()) {
      save(out_);
    } else {
      out_.raw(kept->second);
      kept_.erase(kept);
    }
    ++next_;
    if (out_.bytes().size() < kPieceBytes && !complete()) return;
    pieces_.push_back(out_.take());
    // Where one piece is full the next one mostly will be, and need not grow from nothing.
    if (!complete()) out_.reserve(kPieceBytes + kPieceBytes / 8);
  }

  [[nodiscard]] Pieces take() {
    if (!out_.bytes().empty()) pieces_.push_back(out_.take());
    return std::move(pieces_);
  }

 private:
  // Growing one string of hundreds of megabytes would copy it again and again, in one go each time.
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

  std::uint64_t next_;
  std::uint64_t end_;
  std::map<std::uint64_t, std::string> kept_;  // by number
  Encoder out_;
  Pieces pieces_;
};

}  // namespace margin::internal
