// A store through kill -9, a disk that takes no more, and files that may not be written. Each round prints its seed first; MARGIN_SEED=N
// runs that one alone, MARGIN_ROUNDS=N so many.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "log/log_fixture.h"
#include "log/recovery.h"
#include "log/sqlite_log.h"

namespace margin {
namespace {

constexpr std::array<const char*, 3> kPools = {"a", "b", "c"};

// The event that is always at this offset of this pool.
Event event_at(std::size_t pool, std::uint64_t offset) { return numbered_event(pool * 1'000'000 + offset); }

struct Told {
  std::uint64_t pool = 0;
  std::uint64_t offset = 0;
};

// Runs `work` in a process of its own.
pid_t in_child(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::uint64_t next_of(EventLog& log, const char* pool) {
  const std::vector<PoolPosition> positions = log.pools().value();
  for (const PoolPosition& position : positions) {
    if (position.pool == pool) return position.next;
  }
  return 0;
}

// Appends to all pools, keeps snapshots and compacts until it is killed; tells each acknowledgement.
int serve(const std::string& path, Durability durability, std::uint64_t seed, int tell) {
  Result<std::unique_ptr<SqliteLog>> opened = SqliteLog::open(path, {.durability = durability});
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    return 1;
  }
  SqliteLog& log = **opened;
  Random random(seed);
  std::array<std::uint64_t, kPools.size()> next{};
  for (std::size_t pool = 0; pool < kPools.size(); ++pool) next[pool] = next_of(log, kPools[pool]);
  while (true) {
    for (std::uint64_t burst = random.below(30); burst > 0; --burst) {
      const std::size_t pool = random.below(kPools.size());
      const std::uint64_t offset = next[pool]++;
      const Status taken = log.append({.pool = kPools[pool], .event = event_at(pool, offset)}, [=](const Result<std::uint64_t>& result) {
        const Told told{pool, offset};
        if (!result || *result != offset || write(tell, &told, sizeof told) != sizeof told) _exit(2);
      });
      if (!taken) return 3;
    }
    if (random.chance(0.3)) log.flush();
    if (random.chance(0.05)) {
      const char* pool = kPools[random.below(kPools.size())];
      log.flush();
      const Result<RecoveredPool> state = recover(log, pool);
      if (!state) return 4;
      const std::string bytes = state->pool.snapshot();
      if (!log.keep_snapshot(pool, {state->next, bytes, digest_of(bytes)})) return 5;
      if (random.chance(0.5) && !log.compact(pool, state->next - random.below(state->next / 2 + 1), AuditKept::kEverything)) return 6;
    }
  }
}

class CrashTest : public testing::Test {
 protected:
  std::string path() const { return folder_.file("store.db"); }

  // One life, ended after a random time; what it acknowledged is added to `told_`.
  void live_and_die(Durability durability, std::uint64_t seed) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] { return serve(path(), durability, seed, pipe_ends[1]); });
    close(pipe_ends[1]);
    Random random(seed);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20 + random.below(300));
    bool killed = false;
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0 && !std::exchange(killed, true)) kill(child, SIGKILL);
      pollfd waiting{.fd = pipe_ends[0], .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, killed ? -1 : static_cast<int>(left) + 1) <= 0) continue;
      Told told;
      if (read(pipe_ends[0], &told, sizeof told) != sizeof told) break;
      told_.push_back(told);
    }
    close(pipe_ends[0]);
    EXPECT_EQ(exit_code(child), -1) << "it was to be killed, and ended by itself";
  }

  void expect_everything_told_is_there() {
    const Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path());
    ASSERT_TRUE(log.ok()) << log.error().message;
    for (const Told& told : told_) {
      const auto found = (*log)->find(kPools[told.pool], event_at(told.pool, told.offset).id);
      ASSERT_TRUE(found.ok()) << found.error().message;
      ASSERT_TRUE(found->has_value()) << "acknowledged and lost: " << kPools[told.pool] << " " << told.offset;
      ASSERT_EQ((*found)->offset, told.offset);
    }
    const Verification verification = verify(**log).value();
    for (const VerifiedPool& pool : verification.pools) {
      for (const std::string& finding : pool.findings) ADD_FAILURE() << finding;
    }
    EXPECT_TRUE((*log)->check_file().ok());
  }

  TemporaryFolder folder_;
  std::vector<Told> told_;
};

class EveryDurability : public CrashTest, public testing::WithParamInterface<Durability> {};

TEST_P(EveryDurability, NothingAcknowledgedIsLostToKill9) {
  const char* one = std::getenv("MARGIN_SEED");
  const char* rounds = std::getenv("MARGIN_ROUNDS");
  const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
  const std::uint64_t last = one != nullptr ? first : rounds != nullptr ? std::strtoull(rounds, nullptr, 10) : 10;
  for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    live_and_die(GetParam(), seed);
    expect_everything_told_is_there();
  }
  EXPECT_GT(told_.size(), 100) << "lives that did nothing prove little";
}

INSTANTIATE_TEST_SUITE_P(, EveryDurability, testing::Values(Durability::kDisk, Durability::kProcess),
                         [](const auto& durability) { return durability.param == Durability::kDisk ? "disk" : "process"; });

TEST_F(CrashTest, AFileThatMayNotGrowFailsTheAppendAndGrowsAgainWhenItMay) {
  const pid_t child = in_child([this] {
    std::signal(SIGXFSZ, SIG_IGN);
    Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path(), {.durability = Durability::kProcess});
    if (!log) return 1;
    struct rlimit limit {};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 200'000;
    setrlimit(RLIMIT_FSIZE, &limit);
    std::uint64_t stored = 0;
    Result<std::uint64_t> last = 0;
    while (stored < 100'000 && (last = append_now(**log, "a", event_at(0, stored))).ok()) ++stored;
    if (last.ok()) return 2;
    if (last.error().code != ErrorCode::kUnavailable) return 3;
    if ((*log)->writable().ok()) return 4;
    if (next_of(**log, "a") != stored) return 5;
    if (append_now(**log, "a", event_at(0, stored)).ok()) return 6;
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    const Result<std::uint64_t> again = append_now(**log, "a", event_at(0, stored));
    if (!again) return 7;
    if (*again != stored) return 8;
    return (*log)->writable().ok() && verify(**log)->sound() ? 0 : 9;
  });
  EXPECT_EQ(exit_code(child), 0);
}

TEST_F(CrashTest, AnotherProcessIsRefusedByTheNameOfTheOneThatHasTheStore) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
  const pid_t child = in_child([&] {
    const auto log = SqliteLog::open(path());
    const bool told = log.ok() && write(ready[1], "!", 1) == 1;
    pause();
    return told ? 0 : 1;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto second = SqliteLog::open(path());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("process " + std::to_string(child) + " on "), std::string::npos) << second.error().message;
  kill(child, SIGKILL);
  exit_code(child);
  EXPECT_TRUE(SqliteLog::open(path()).ok()) << "the lease ends with its holder";
}

TEST_F(CrashTest, AStoreThatMayNotBeWrittenIsRefusedAndMayBeLookedAt) {
  {
    const auto log = SqliteLog::open(path()).value();
    ASSERT_TRUE(append_now(*log, "a", event_at(0, 0)).ok());
  }
  std::filesystem::remove(path() + ".lock");
  const auto folder = std::filesystem::path(path()).parent_path();
  chmod(path().c_str(), 0444);
  chmod((path() + ".head").c_str(), 0444);
  chmod(folder.c_str(), 0555);
  const pid_t child = in_child([this] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 1;  // root may write anything
    const auto log = SqliteLog::open(path());
    if (log || log.error().message.find(path()) == std::string::npos) return 2;
    const auto look = SqliteLog::look(path());
    if (!look) return 3;
    return (*look)->read("a", 0, 10)->size() == 1 ? 0 : 4;
  });
  EXPECT_EQ(exit_code(child), 0);
  chmod(folder.c_str(), 0755);
}

}  // namespace
}  // namespace margin
