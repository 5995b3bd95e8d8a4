#include "log/high_water.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/encoding.h"
#include "log/store_format.h"

namespace margin::internal {
namespace {

constexpr std::size_t kBodyBytes = HighWater::kPlaceBytes - 16;  // before their digest

std::string encoded(const Acknowledged& acknowledged) {
  Encoder out;
  out.integer(acknowledged.store.high);
  out.integer(acknowledged.store.low);
  out.integer(acknowledged.records);
  out.flag(acknowledged.on_disk);
  const Digest digest = digest_of(out.bytes());
  out.integer(digest.high);
  out.integer(digest.low);
  return out.take();
}

std::optional<Acknowledged> decoded(std::string_view bytes) {
  Decoder in(bytes);
  Acknowledged acknowledged;
  acknowledged.store = {in.integer<std::uint64_t>(), in.integer<std::uint64_t>()};
  acknowledged.records = in.integer<std::uint64_t>();
  acknowledged.on_disk = in.flag();
  const Digest digest = {in.integer<std::uint64_t>(), in.integer<std::uint64_t>()};
  if (!in.finish("").ok() || digest != digest_of(bytes.substr(0, kBodyBytes))) return std::nullopt;
  return acknowledged;
}

}  // namespace

Status check_acknowledged(const std::string& path, const std::optional<Acknowledged>& before, const Acknowledged& now,
                          std::string& warning) {
  if (!before) return {};
  const std::string were = std::to_string(before->records) + " events were acknowledged";
  if (before->store != now.store) {
    return {ErrorCode::kCorrupt,
            "another store stood here before, of which " + were + ". If the exchange is meant, remove " + high_water_path(path)};
  }
  if (before->records <= now.records) return {};
  const std::string gone = were + ", and " + std::to_string(now.records) + " are in it";
  if (before->on_disk) {
    return {ErrorCode::kCorrupt, gone + ": its tail (" + path + ".tail0, .tail1) or its journal (" + path +
                                     "-wal) is damaged or missing, or this is an older copy of the store. If the loss is meant, remove " +
                                     high_water_path(path)};
  }
  warning = gone +
            ": the last ones are lost, as durability \"process\" allows after a power failure; without one (kill -9 loses none) its "
            "tail or its journal was damaged, or this is an older copy of the store";
  return {};
}

void HighWater::Unmap::operator()(char* bytes) const { munmap(bytes, kBytes); }

Result<HighWater> HighWater::open(const std::string& store) {
  const std::string path = high_water_path(store);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0) return {ErrorCode::kUnavailable, path + ": cannot be made: " + std::strerror(errno)};
  HighWater opened(descriptor);
  struct stat its {};
  if (stat(store.c_str(), &its) == 0) resemble(descriptor, its);
  opened.map();
  return opened;
}

void HighWater::map() {
  // All of it must be there, with room on the disk: what is mapped cannot tell that there is none. So it is written as it stands: a file
  // that was made longer on a full disk has the length and no room.
  struct stat found {};
  if (fstat(file_.get(), &found) != 0) return;
  std::array<char, kBytes> bytes_now{};
  const std::size_t size = std::min(static_cast<std::size_t>(found.st_size), kBytes);
  if (pread(file_.get(), bytes_now.data(), size, 0) != static_cast<ssize_t>(size)) return;
  if (pwrite(file_.get(), bytes_now.data(), kBytes, 0) != static_cast<ssize_t>(kBytes)) return;
  void* const bytes = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (bytes != MAP_FAILED) mapped_.reset(static_cast<char*>(bytes));
}

std::optional<Acknowledged> HighWater::read(const std::string& path) {
  const HighWater file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.file_.open() ? file.read() : std::nullopt;
}

std::optional<Acknowledged> HighWater::read() const {
  std::array<char, kBytes> bytes{};
  const ssize_t size = pread(file_.get(), bytes.data(), bytes.size(), 0);
  std::optional<Acknowledged> latest;
  for (std::size_t place = 0; size >= static_cast<ssize_t>((place + 1) * kPlaceBytes); ++place) {
    const auto found = decoded({bytes.data() + place * kPlaceBytes, kPlaceBytes});
    if (found && (!latest || found->records > latest->records)) latest = found;
  }
  return latest;
}

void HighWater::write(const Acknowledged& acknowledged) {
  const std::string bytes = encoded(acknowledged);
  put(next_, bytes);
  next_ = 1 - next_;
  if (on_disk_ == acknowledged.on_disk) return;
  // The first, and one that does not say more but something else: whichever of the two is read.
  put(next_, bytes);
  on_disk_ = acknowledged.on_disk;
}

void HighWater::put(std::size_t place, std::string_view bytes) {
  if (mapped_ != nullptr) {
    std::memcpy(mapped_.get() + place * kPlaceBytes, bytes.data(), bytes.size());
  } else {
    static_cast<void>(pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(place * kPlaceBytes)) < 0);
  }
}

}  // namespace margin::internal
