// OutputFile: a file that appears complete or not at all. Used for everything the command line writes.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "margin/result.h"

namespace margin::report {

// Writes beside the target and renames at the end; a run that fails or is killed leaves the target as it was.
// What is no regular file (a pipe, /dev/stdout) is written directly.
class OutputFile {
 public:
  // kNotFound: cannot be created.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) noexcept = default;
  // Removes what was not committed.
  ~OutputFile();

  void write(std::string_view text);
  // kCorrupt: something could not be written (a full disk); then there is no file.
  Status commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  OutputFile(std::FILE* file, std::string path, std::string temporary)
      : file_(file), path_(std::move(path)), temporary_(std::move(temporary)) {}

  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  std::string temporary_;  // empty: written directly
};

// All of a file at once. Errors as above.
[[nodiscard]] Status write_file(const std::string& path, std::string_view text);

}  // namespace margin::report
