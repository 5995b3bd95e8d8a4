#include "log/evidence.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "log/tail.h"

namespace margin::internal {

Result<std::string> keep_damaged(const std::string& store) {
  constexpr int kSetsMax = 4;
  namespace fs = std::filesystem;
  const std::array files = {store + "-wal", tail_path(store, 0), tail_path(store, 1)};
  const auto name = [](const std::string& file, int set) { return file + ".damaged" + std::to_string(set); };
  const auto taken = [&](int set) {
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      std::error_code error;
      return fs::exists(name(file, set), error);
    });
  };
  int set = 1;
  while (set <= kSetsMax && taken(set)) ++set;
  if (set > kSetsMax) return "what was left of them is not kept: " + name(files[0], 1) + " and others stand there from before; remove them";
  std::string kept;
  for (const std::string& file : files) {
    std::error_code error;
    if (const auto bytes = fs::file_size(file, error); error || bytes == 0) continue;
    if (!fs::copy_file(file, name(file, set), error)) {
      // A part of it would be taken for what was kept, and there is room for four.
      std::error_code ignored;
      for (const std::string& each : files) fs::remove(name(each, set), ignored);
      return {ErrorCode::kUnavailable, file + ": is damaged and cannot be kept as " + name(file, set) + ": " + error.message()};
    }
    kept += (kept.empty() ? "" : ", ") + name(file, set);
  }
  return kept.empty() ? "nothing is left of them" : "what was left of them is kept as " + kept;
}

}  // namespace margin::internal
