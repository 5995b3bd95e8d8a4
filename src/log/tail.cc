#include "log/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "log/raw_integer.h"

namespace margin::internal {
namespace {

constexpr std::string_view kMagic = "MRGNTAIL";
constexpr std::uint32_t kTailFormat = 1;
constexpr std::size_t kTailHead = 8 + 4 + 4 + 8 + 16;  // magic, format, 0, turn, store
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kFrameHead = kChecksum + 4 + 4;   // of all behind it, bytes behind this head, records
constexpr std::size_t kEventHead = 8 + 16 + 8 + 4 + 4;  // offset, id, time, bytes of the pool's name, of the record

// Whole pages are written, so that the system need not read one to change a part of it. A page more or less does not matter.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
// What the disk must have room for before commits are tried again.
constexpr std::size_t kProbeBytes = std::size_t{64} << 10;
constexpr std::size_t kWriteRoomKept = std::size_t{1} << 20;

std::string head_of(std::uint64_t turn, const Digest& store) {
  std::string head(kMagic);
  put_integer(head, kTailFormat);
  put_integer(head, std::uint32_t{0});
  put_integer(head, turn);
  put_integer(head, store.high);
  put_integer(head, store.low);
  return head;
}

std::uint64_t chain_of(std::string_view bytes, std::uint64_t before) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before); }

bool write_all(int file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

// From errno.
std::string why_not_written() {
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return "the disk is full";
  return std::string("the disk does not take data: ") + std::strerror(errno);
}

}  // namespace

std::string tail_path(const std::string& store, std::size_t file) { return store + ".tail" + std::to_string(file); }

TailReader::TailReader(int file, const Digest& store, Options options)
    : file_(file), room_(std::move(options.room)), breathe_(std::move(options.breathe)) {
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0) return;
  file_bytes_ = std::min(static_cast<std::uint64_t>(found.st_size), options.bytes_max);
  if (!fill(kTailHead)) return;
  if (at_hand(0).starts_with(kMagic)) format_ = integer_at<std::uint32_t>(at_hand(0), kMagic.size());
  const auto turn = integer_at<std::uint64_t>(at_hand(0), kMagic.size() + 8);
  const std::string head = head_of(turn, store);
  if (!at_hand(0).starts_with(head)) return;
  turn_ = turn;
  chain_ = chain_of(head, 0);
  taken_ = kTailHead;
}

bool TailReader::fill(std::size_t bytes) {
  // A length that is damaged must not ask for more memory than the file has bytes.
  if (read_ - (at_hand_ - taken_) + bytes > file_bytes_) return false;
  while (at_hand_ - taken_ < bytes) {
    room_.resize(std::max({room_.size(), at_hand_ + kReadAtOnce, taken_ + bytes}));
    const ssize_t got = pread(file_, room_.data() + at_hand_, kReadAtOnce, static_cast<off_t>(read_));
    if (got < 0 && errno == EINTR) continue;
    failed_ = got < 0;
    if (got <= 0) return false;
    at_hand_ += static_cast<std::size_t>(got);
    read_ += static_cast<std::uint64_t>(got);
    breathe_();
  }
  return true;
}

bool TailReader::take_frame() {
  if (!fill(kFrameHead)) return false;
  const std::size_t bytes = integer_at<std::uint32_t>(at_hand(taken_), kChecksum);
  if (bytes == 0 || !fill(kFrameHead + bytes)) return false;
  const std::string_view frame = at_hand(taken_).substr(0, kFrameHead + bytes);
  const std::uint64_t checksum = chain_of(frame.substr(kChecksum), chain_);
  if (checksum != integer_at<std::uint64_t>(frame, 0)) return false;
  chain_ = checksum;
  taken_ += frame.size();
  return true;
}

void TailReader::take_apart(std::string_view frame) {
  const std::size_t count = integer_at<std::uint32_t>(frame, kChecksum + 4);
  frame.remove_prefix(kFrameHead);
  for (std::size_t i = 0; i < count && frame.size() >= kEventHead; ++i) {
    TailRecord record{.id = {integer_at<std::uint64_t>(frame, 8), integer_at<std::uint64_t>(frame, 16)},
                      .time_ms = integer_at<std::int64_t>(frame, 24),
                      .offset = integer_at<std::uint64_t>(frame, 0)};
    const std::size_t name = integer_at<std::uint32_t>(frame, 32);
    const std::size_t bytes = integer_at<std::uint32_t>(frame, 36);
    frame.remove_prefix(kEventHead);
    if (frame.size() < name || frame.size() - name < bytes) return;
    record.pool = frame.substr(0, name);
    record.bytes = frame.substr(name, bytes);
    frame.remove_prefix(name + bytes);
    records_.push_back(record);
  }
}

std::span<const TailRecord> TailReader::next(std::size_t bytes_min) {
  records_.clear();
  if (turn_ == 0) return {};
  std::memmove(room_.data(), room_.data() + taken_, at_hand_ - taken_);
  at_hand_ -= taken_;
  taken_ = 0;
  while (taken_ < bytes_min && take_frame()) {
  }
  for (std::string_view frames = at_hand(0).substr(0, taken_); !frames.empty();) {
    const std::size_t bytes = kFrameHead + integer_at<std::uint32_t>(frames, kChecksum);
    take_apart(frames.substr(0, bytes));
    frames.remove_prefix(bytes);
  }
  return records_;
}

Result<TailContent> TailContent::read(const std::string& store_path, const Digest& store) {
  struct Part {
    std::uint64_t turn = 0;
    std::vector<char> bytes;
    std::vector<TailRecord> records;
  };
  std::array<Part, kTailFiles> parts;
  const auto read_file = [&](std::size_t file) -> Status {
    const std::string path = tail_path(store_path, file);
    const auto unreadable = [&path] { return Error{ErrorCode::kUnavailable, path + ": cannot be read: " + std::strerror(errno)}; };
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.open() && errno != ENOENT) return unreadable();
    TailReader reader(descriptor.get(), store);
    const std::span<const TailRecord> records = reader.next(std::numeric_limits<std::size_t>::max());
    if (reader.failed()) return unreadable();
    if (reader.format() > kTailFormat) {
      return {ErrorCode::kUnsupported, path + " has format " + std::to_string(reader.format()) + ", this binary reads up to " +
                                           std::to_string(kTailFormat) + ": it needs a newer margin"};
    }
    parts[file].records.assign(records.begin(), records.end());
    parts[file].turn = reader.turn();
    parts[file].bytes = std::move(reader).room();
    // Released while it was read, whose first events may have been seen and not its last: the store has all of them.
    const TailReader now(descriptor.get(), store);
    if (now.failed()) return unreadable();
    if (now.turn() != parts[file].turn) parts[file].records.clear();
    return {};
  };
  // A file of a later turn than the one that was read before it: that one may have got more meanwhile, and has all of it now.
  std::size_t last = 0;
  if (Status status = read_file(last); !status) return status.error();
  do {
    last = 1 - last;
    if (Status status = read_file(last); !status) return status.error();
  } while (parts[last].turn > parts[1 - last].turn);
  std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) { return left.turn < right.turn; });
  TailContent content;
  for (Part& part : parts) {
    content.bytes_.push_back(std::move(part.bytes));
    content.records_.insert(content.records_.end(), part.records.begin(), part.records.end());
  }
  return content;
}

Status Tail::open(const std::string& store_path, const Digest& store) {
  store_ = store;
  struct stat found {};
  const bool known = stat(store_path.c_str(), &found) == 0;
  for (std::size_t i = 0; i < kTailFiles; ++i) {
    File& file = files_[i];
    file = {};
    file.path = tail_path(store_path, i);
    file.descriptor = Descriptor(::open(file.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file.descriptor.open()) return {ErrorCode::kUnavailable, file.path + ": cannot be made: " + std::strerror(errno)};
    if (known) resemble(file.descriptor.get(), found);
  }
  return {};
}

void Tail::close() {
  const std::lock_guard lock(mutex_);
  for (File& file : files_) {
    if (file.descriptor.open() && file.length == 0) unlink(file.path.c_str());
    file.descriptor = Descriptor();
  }
}

Status Tail::append(std::span<const Waiting> batch) {
  const std::lock_guard lock(mutex_);
  File& file = files_[written_];
  const bool begins = file.length == 0;
  if (begins) {
    file.turn = ++turns_;
    file.last_page = head_of(file.turn, store_);
    file.chain = chain_of(file.last_page, 0);
    file.length = kTailHead;
  }
  room_ = file.last_page;
  const std::size_t frame = room_.size();
  std::size_t bytes = 0;
  for (const Waiting& item : batch) bytes += kEventHead + item.pool.size() + item.bytes.size();
  MARGIN_CHECK(bytes <= std::numeric_limits<std::uint32_t>::max(), "the queue bounds what waits");
  room_.reserve(frame + kFrameHead + bytes + kPageBytes);
  put_integer(room_, std::uint64_t{0});
  put_integer(room_, static_cast<std::uint32_t>(bytes));
  put_integer(room_, static_cast<std::uint32_t>(batch.size()));
  for (const Waiting& item : batch) {
    put_integer(room_, item.offset);
    put_integer(room_, item.id.high);
    put_integer(room_, item.id.low);
    put_integer(room_, item.time_ms);
    put_integer(room_, static_cast<std::uint32_t>(item.pool.size()));
    put_integer(room_, static_cast<std::uint32_t>(item.bytes.size()));
    room_ += item.pool;
    room_ += item.bytes;
  }
  const std::uint64_t chain = chain_of(std::string_view(room_).substr(frame + kChecksum), file.chain);
  std::memcpy(room_.data() + frame, &chain, sizeof chain);
  const std::size_t end = room_.size();
  room_.resize((end + kPageBytes - 1) / kPageBytes * kPageBytes);
  if (!write_all(file.descriptor.get(), room_, file.length - file.last_page.size())) {
    const std::string why = why_not_written();
    if (begins) file.length = 0;
    // Of what was written before it failed, all that matters may be there.
    static_cast<void>(ftruncate(file.descriptor.get(), static_cast<off_t>(file.length)) == 0);
    return {ErrorCode::kUnavailable, why};
  }
  file.length += end - frame;
  file.chain = chain;
  file.last_page.assign(room_, end / kPageBytes * kPageBytes, end % kPageBytes);
  file.unsynced = true;
  // The room of a large commit is given back.
  if (room_.capacity() > kWriteRoomKept) room_ = {};
  return {};
}

// Zeros behind the last page that is written: whoever reads the file takes them for its end, and the next commit stands in their place.
Status Tail::probe() {
  static constexpr std::array<char, kProbeBytes> kNothing{};
  const std::lock_guard lock(mutex_);
  const File& file = files_[written_];
  const std::uint64_t end = (file.length + kPageBytes - 1) / kPageBytes * kPageBytes;
  Status status;
  if (!write_all(file.descriptor.get(), {kNothing.data(), kNothing.size()}, end)) status = {ErrorCode::kUnavailable, why_not_written()};
  static_cast<void>(ftruncate(file.descriptor.get(), static_cast<off_t>(end)) == 0);
  return status;
}

bool Tail::put_on_disk(int (*sync)(int file)) {
  std::array<int, kTailFiles> unsynced{};
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    for (File& file : files_) {
      if (std::exchange(file.unsynced, false)) unsynced[count++] = file.descriptor.get();
    }
  }
  bool done = true;
  for (std::size_t i = 0; i < count; ++i) done = sync(unsynced[i]) == 0 && done;
  return done;
}

std::uint64_t Tail::length() {
  const std::lock_guard lock(mutex_);
  return files_[written_].length;
}

std::uint64_t Tail::bytes() {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const File& file : files_) sum += file.length;
  return sum;
}

Tail::HandedOver Tail::hand_over() {
  const std::lock_guard lock(mutex_);
  const std::size_t other = 1 - written_;
  const bool before = files_[other].length != 0;
  const std::size_t file = before ? other : written_;
  if (!before) written_ = other;
  return {.file = file, .descriptor = files_[file].descriptor.get(), .length = files_[file].length, .empty = files_[file].length == 0};
}

bool Tail::release(const HandedOver& handed, bool erase) {
  static constexpr std::array<char, kPageBytes> kNothing{};
  const std::lock_guard lock(mutex_);
  File& file = files_[handed.file];
  bool erased = true;
  // Whoever reads it does so for nothing; the store has its events, so a failure does not matter unless they are to be gone.
  if (erase) {
    erased = ftruncate(file.descriptor.get(), 0) == 0;
  } else if (file.length != 0) {
    static_cast<void>(write_all(file.descriptor.get(), {kNothing.data(), kNothing.size()}, 0));
  }
  file.length = 0;
  file.last_page.clear();
  return erased;
}

}  // namespace margin::internal
