// What the tests of this folder share: a folder of their own, events with a number, a pool that lives beside its log.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "log/event_log.h"
#include "margin/pool.h"

namespace margin {

// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "margin_log_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Event number n of a stream of its own: its id, its time and its content follow from n.
inline Event numbered_event(std::uint64_t n) {
  Random random(n);
  const auto time_ms = static_cast<std::int64_t>(1'700'000'000'000 + n);
  return {.id = Uuid::make(time_ms, random), .time_ms = time_ms, .body = ModelJoined{.model = "model " + std::to_string(n)}};
}

// Appends and waits for the acknowledgement.
inline Result<std::uint64_t> append_now(EventLog& log, const std::string& pool, const Event& event) {
  Result<std::uint64_t> offset(ErrorCode::kUnavailable, "not acknowledged");
  const Status taken = log.append({.pool = pool, .event = event}, [&](Result<std::uint64_t> result) { offset = std::move(result); });
  if (!taken) return taken.error();
  log.flush();
  return offset;
}

// A pool as a server keeps it: every event first to the log, then applied.
class LivePool {
 public:
  LivePool(EventLog& log, std::string name) : log_(log), name_(std::move(name)) {}

  [[nodiscard]] const Pool& pool() const { return pool_; }
  [[nodiscard]] std::uint64_t next() const { return next_; }

  Uuid put(EventBody body) {
    now_ += 1000;
    const Event event{.id = Uuid::make(now_, random_), .time_ms = now_, .body = std::move(body)};
    const Result<std::uint64_t> offset = append_now(log_, name_, event);
    EXPECT_TRUE(offset.ok() && *offset == next_) << (offset ? "" : offset.error().message);
    ++next_;
    const ApplyResult result = pool_.apply(event);
    EXPECT_NE(result.status, ApplyStatus::kRefused) << result.error->message;
    return event.id;
  }

  // One task of three models; returns the id of its feedback.
  Uuid task() {
    const auto confidence = [this] { return static_cast<double>(random_.below(21)) / 20.0; };
    Question question{.task = "task " + std::to_string(next_)};
    for (const char* model : {"ada", "bob", "cyd"}) {
      question.responses.push_back({.model = model, .answer = random_.chance(0.5) ? "yes" : "no", .confidence = confidence()});
    }
    const Uuid decision = put(pool_.decide(question).value());
    return put(OutcomeObserved{.decision = decision, .gold = random_.chance(0.5) ? "yes" : "no", .source = "test"});
  }
  void tasks(int count) {
    for (int i = 0; i < count; ++i) task();
  }

  void keep_snapshot() {
    const std::string bytes = pool_.snapshot();
    const Status kept = log_.keep_snapshot(name_, {next_, bytes, digest_of(bytes)});
    EXPECT_TRUE(kept.ok()) << kept.error().message;
  }

 private:
  EventLog& log_;
  const std::string name_;
  Pool pool_;
  Random random_{1};
  std::int64_t now_ = 1'700'000'000'000;
  std::uint64_t next_ = 0;
};

}  // namespace margin
