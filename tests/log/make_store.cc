// make_store PATH TASKS [hold]: a store with two pools for state_commands.py; `hold` keeps it open, as a server does, until the input ends.
// Prints the digest of the pool "default".
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "log/log_fixture.h"
#include "log/sqlite_log.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  auto log = margin::SqliteLog::open(argv[1], {.durability = margin::Durability::kProcess});
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  margin::LivePool pool(**log, "default");
  const int tasks = std::atoi(argv[2]);
  pool.tasks(tasks / 2);
  pool.keep_snapshot();
  pool.tasks(tasks - tasks / 2);
  margin::LivePool other(**log, "law");
  other.tasks(2);
  std::printf("%s\n", pool.pool().digest().hex().c_str());
  std::fflush(stdout);
  if (argc > 3) std::getchar();
  return 0;
}
