// Files for the tests of this folder.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace margin::dataset {

// A file with this content, gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    close(mkstemp(path_.data()));
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = "margin_test_XXXXXX";
};

inline std::string gzipped(std::string_view text) {
  const TemporaryFile file("");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return file.content();
}

}  // namespace margin::dataset
