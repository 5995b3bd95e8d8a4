// A replay's peak memory against the parsed size of its input: the heap that the ObservationLog of the same file holds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "dataset/reader.h"
#include "dataset/temporary_file.h"

namespace margin {
namespace {

// Runs the binary, its output thrown away; its peak resident memory in bytes, 0 when it fails.
std::size_t peak_bytes(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), MARGIN_BINARY);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execv(MARGIN_BINARY, pointers.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return 0;
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

std::size_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST(ReplayMemory, PeakIsBelowThreeTimesTheParsedSize) {
  const dataset::TemporaryFile file("");
  // 522,000 rows: just below a power of two, so that the columns have hardly any room to spare, which would count as parsed.
  ASSERT_NE(peak_bytes({"simulate", "drift", "--tasks", "87000", "--out", file.path()}), 0U);
  for (const char* orderings : {"0", "2"}) {
    const std::size_t peak = peak_bytes({"replay", file.path(), "--method", "all", "--orderings", orderings, "--json"});
    ASSERT_NE(peak, 0U);
    const std::size_t before = heap_bytes();
    const auto log = dataset::read_observations(std::array{file.path()});
    ASSERT_TRUE(log.ok());
    const std::size_t parsed = heap_bytes() - before;
    ASSERT_GT(parsed, log->rows() * 50);  // what the columns alone take: otherwise the measure is broken
    EXPECT_LT(peak, 3 * parsed) << "orderings " << orderings << ": peak " << peak << ", parsed " << parsed;
    std::printf("orderings %s: peak %.1f MB, parsed %.1f MB: %.2f times\n", orderings, static_cast<double>(peak) / 1e6,
                static_cast<double>(parsed) / 1e6, static_cast<double>(peak) / static_cast<double>(parsed));
  }
}

}  // namespace
}  // namespace margin
