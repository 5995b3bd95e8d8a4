#include "log/high_water.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/encoding.h"
#include "log/store_format.h"

namespace margin::internal {
namespace {

constexpr std::size_t kBodyBytes = HighWater::kBytes - 16;  // before their digest

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

Result<HighWater> HighWater::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return {ErrorCode::kNotFound, path + ": cannot be made: " + std::strerror(errno)};
  return HighWater(descriptor);
}

std::optional<Acknowledged> HighWater::read(const std::string& path) {
  const HighWater file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.file_.open() ? file.read() : std::nullopt;
}

std::optional<Acknowledged> HighWater::read() const {
  std::array<char, kBytes> bytes{};
  if (pread(file_.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  Decoder in({bytes.data(), bytes.size()});
  Acknowledged acknowledged;
  acknowledged.store = {in.integer<std::uint64_t>(), in.integer<std::uint64_t>()};
  acknowledged.records = in.integer<std::uint64_t>();
  acknowledged.on_disk = in.flag();
  const Digest digest = {in.integer<std::uint64_t>(), in.integer<std::uint64_t>()};
  if (!in.finish("").ok() || digest != digest_of({bytes.data(), kBodyBytes})) return std::nullopt;
  return acknowledged;
}

void HighWater::write(const Acknowledged& acknowledged) {
  const std::string bytes = encoded(acknowledged);
  static_cast<void>(pwrite(file_.get(), bytes.data(), bytes.size(), 0) < 0);
}

}  // namespace margin::internal
