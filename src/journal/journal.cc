#include "journal/journal.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "journal/line.h"

namespace margin::journal {

Journal::Journal(int descriptor, Options options, std::function<std::int64_t()> now_ms)
    : descriptor_(descriptor),
      colour_(isatty(descriptor) == 1),
      now_ms_(std::move(now_ms)),
      format_(options.format),
      level_(options.level) {}

void Journal::set(Options options) {
  format_ = options.format;
  level_ = options.level;
}

void Journal::write(Level level, std::string_view message, std::initializer_list<Field> details) {
  if (!takes(level)) return;
  const auto text = [&](const Line& line) { return format_ == Format::kJson ? json_line(line) : pretty_line(line, colour_); };
  const std::string line = text({now_ms_(), level, message, details});
  const std::lock_guard lock(mutex_);
  if (unreported_ > 0) {
    const Field lost[] = {{"lines", static_cast<std::int64_t>(unreported_)}};
    if (put(text({now_ms_(), Level::kWarning, "log lines were lost: nobody read them in time", lost}))) unreported_ = 0;
  }
  // Lines keep their order: while the loss cannot be told, nothing that came after it is.
  if (unreported_ > 0 || !put(line)) {
    ++unreported_;
    ++dropped_;
  }
}

bool Journal::put(std::string_view line) {
  // Whoever stalled once is not waited for again until it reads.
  pollfd descriptor{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  const int ready = poll(&descriptor, 1, unreported_ > 0 ? 0 : kPatienceMs);
  if (ready <= 0 || (descriptor.revents & POLLOUT) == 0 || (descriptor.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
  ssize_t written = 0;
  do written = ::write(descriptor_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(line.size());
}

}  // namespace margin::journal
