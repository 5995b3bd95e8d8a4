// Report: tables and pictures with words, as one HTML file that needs nothing else: no network, no script, light and dark, printable.
// The experiments fill it. All text is taken to be hostile and escaped.
#pragma once

#include <string>
#include <vector>

#include "margin/result.h"
#include "report/table.h"

namespace margin::report {

struct Figure {
  std::string svg;  // from a to_svg() of this layer: goes into the page as it is
  std::string caption;
  Table data;  // the same numbers, folded away under the picture
};

// Any picture of this layer.
template <class Picture>
[[nodiscard]] Figure figure(const Picture& picture, std::string caption) {
  return {to_svg(picture), std::move(caption), to_table(picture)};
}

struct Section {
  std::string heading;
  std::vector<std::string> paragraphs;
  std::vector<Table> tables;
  std::vector<Figure> figures;
};

struct Report {
  std::string title;
  std::vector<std::string> summary;  // paragraphs; the first is what a reader in a hurry reads
  std::vector<Section> sections;
};

[[nodiscard]] std::string to_html(const Table& table);
[[nodiscard]] std::string to_html(const Report& report);

// Writes DIR/report.html, making DIR if need be; the file appears complete or not at all. Returns its path.
// kNotFound: DIR cannot be made or the file not be put there. kCorrupt: not everything could be written (a full disk).
[[nodiscard]] Result<std::string> write_report(const Report& report, const std::string& dir);

}  // namespace margin::report
