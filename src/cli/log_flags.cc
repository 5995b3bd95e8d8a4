#include "cli/log_flags.h"

#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "cli/command.h"
#include "dataset/text.h"

namespace margin::cli {

void LogFlags::add_to(CLI::App& app) {
  repeatable(app.add_option("--channel", channels, "Only rows of this channel; repeatable. Two channels give two results"))
      ->type_name("NAME");
  repeatable(app.add_option("--models", models, "Only rows of these models: a,b,... or @FILE with a name per line"))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--scale", scale, "Divide confidences by this: 100 for percentages")->type_name("X")->capture_default_str();
  app.add_option("--kind", kind, "When answers are equal, for tasks that do not say: exact, code, choice, math or text")
      ->type_name("KIND")
      ->capture_default_str();
  app.add_option("--malformed", malformed, "Rows with a confidence and a null answer: keep (calibrated, no vote) or exclude")
      ->check(CLI::IsMember({"keep", "exclude"}))
      ->type_name("RULE")
      ->capture_default_str();
  app.add_option("--input", input, "Format of the logs: jsonl, csv, or auto (csv where a name ends in .csv or .csv.gz)")
      ->check(CLI::IsMember({"auto", "jsonl", "csv"}))
      ->type_name("NAME")
      ->capture_default_str();
}

dataset::ReadOptions LogFlags::read_options() const {
  using dataset::InputFormat;
  return {.scale = scale, .format = input == "csv" ? InputFormat::kCsv : input == "jsonl" ? InputFormat::kJsonLines : InputFormat::kByName};
}

Result<std::vector<std::string>> model_names(const std::vector<std::string>& typed) {
  std::vector<std::string> names;
  for (const std::string& item : typed) {
    if (!item.starts_with('@')) {
      names.push_back(item);
      continue;
    }
    std::ifstream file(item.substr(1));
    if (!file) return Error{ErrorCode::kNotFound, "--models: " + dataset::printable(item.substr(1), 400) + " cannot be opened"};
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) names.push_back(line);
    }
    if (names.empty())
      return Error{ErrorCode::kInvalidArgument, "--models: " + dataset::printable(item.substr(1), 400) + " names no model"};
  }
  return names;
}

LogPlace parse_place(const std::string& typed) {
  struct stat status {};
  const std::size_t colon = typed.rfind(':');
  if (colon == std::string::npos || stat(typed.c_str(), &status) == 0) return {typed, {}};
  return {typed.substr(0, colon), {typed.substr(colon + 1)}};
}

Result<experiment::RowSelection> row_selection(const LogFlags& flags, std::vector<std::string> phases) {
  if (!(flags.scale > 0.0 && std::isfinite(flags.scale))) return Error{ErrorCode::kInvalidArgument, "--scale: expected a positive number"};
  const Result<AnswerKind> kind = parse_answer_kind(flags.kind);
  if (!kind) return Error{kind.error().code, "--" + kind.error().message};
  Result<std::vector<std::string>> models = model_names(flags.models);
  if (!models) return models.error();
  return experiment::RowSelection{.phases = std::move(phases),
                                  .models = std::move(*models),
                                  .channels = flags.channels,
                                  .exclude_without_answer = flags.malformed == "exclude",
                                  .kind = *kind};
}

}  // namespace margin::cli
