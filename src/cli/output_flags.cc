#include "cli/output_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

constexpr std::size_t kParagraphBytesMax = 4000;

}  // namespace

void OutputFlags::add_to(CLI::App& app) {
  app.add_option("--format", format, "Of the tables: text, csv, markdown, latex or json")->type_name("NAME")->capture_default_str();
  app.add_flag("--json", json, "The same as --format json");
  app.add_option("--report", directory, "Also write DIR/report.html: one file with the tables and their pictures")->type_name("DIR");
}

int deliver(const report::Report& report, const OutputFlags& flags) {
  const Result<report::Format> format = report::parse_format(flags.json ? "json" : flags.format);
  if (!format) return complain("--format: " + format.error().message);
  std::vector<report::Table> tables;
  for (const report::Section& section : report.sections) tables.insert(tables.end(), section.tables.begin(), section.tables.end());
  std::string text;
  if (*format == report::Format::kText) {
    for (const std::string& paragraph : report.summary) text += dataset::printable(paragraph, kParagraphBytesMax) + "\n\n";
  }
  text += report::render(tables, *format, {.colour = *format == report::Format::kText && isatty(STDOUT_FILENO) == 1});
  if (!flags.directory.empty()) {
    const Result<std::string> path = report::write_report(report, flags.directory);
    if (!path) return complain(path.error().message, kFailed);
    fmt::print(stderr, "margin: wrote {}\n", *path);
  }
  return print(text);
}

}  // namespace margin::cli
