#include "cli/output_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

constexpr std::size_t kParagraphBytesMax = 4000;

std::vector<report::Table> tables_of(const report::Report& report) {
  std::vector<report::Table> tables;
  for (const report::Section& section : report.sections) tables.insert(tables.end(), section.tables.begin(), section.tables.end());
  return tables;
}

// Words and tables as they follow each other; a heading only where words follow it, for tables have titles of their own.
std::string as_text(const report::Report& report) {
  const bool colour = isatty(STDOUT_FILENO) == 1;
  std::string text;
  const auto add = [&](const std::vector<std::string>& paragraphs) {
    for (const std::string& paragraph : paragraphs) text += dataset::printable(paragraph, kParagraphBytesMax) + "\n\n";
  };
  add(report.summary);
  for (const report::Section& section : report.sections) {
    if (!section.paragraphs.empty()) add({section.heading});
    add(section.paragraphs);
    text += report::render(section.tables, report::Format::kText, {.colour = colour});
    if (!section.tables.empty()) text += '\n';
  }
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

void OutputFlags::add_to(CLI::App& app) {
  app.add_option("--format", format, "Of the tables: text, csv, markdown, latex or json")->type_name("NAME")->capture_default_str();
  app.add_flag("--json", json, "The same as --format json");
  app.add_option("--report", directory, "Also write DIR/report.html: one file with the tables and their pictures")->type_name("DIR");
}

int deliver(const report::Report& report, const OutputFlags& flags, const std::string& json) {
  const Result<report::Format> format = report::parse_format(flags.json ? "json" : flags.format);
  if (!format) return complain("--format: " + format.error().message);
  const std::string text = *format == report::Format::kText ? as_text(report) : report::render(tables_of(report), *format);
  if (!flags.directory.empty()) {
    const Result<std::string> path = report::write_report(report, flags.directory);
    if (!path) return complain(path.error().message, kFailed);
    fmt::print(stderr, "margin: wrote {}\n", *path);
  }
  return print(*format == report::Format::kJson && !json.empty() ? json : text);
}

}  // namespace margin::cli
