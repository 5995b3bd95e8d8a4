#include "golden_data.h"

#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace margin::golden {
namespace {

using simdjson::dom::element;

[[noreturn]] void give_up(const std::string& file, const std::string& why) {
  std::fprintf(stderr, "golden data %s: %s\n", file.c_str(), why.c_str());
  std::abort();
}

template <class Use>
void for_each_line(const std::string& file, Use use) {
  std::istringstream text(read_data(file));
  simdjson::dom::parser parser;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    try {
      const element object = parser.parse(line);
      use(object);
    } catch (const simdjson::simdjson_error& error) {
      give_up(file, "line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (number == 0) give_up(file, "no lines");
}

std::string text_or_empty(const element& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::optional<double> number_or_null(const element& value) {
  if (value.is_null()) return std::nullopt;
  return double(value);
}

std::vector<double> numbers(const element& array) {
  std::vector<double> values;
  for (const element value : array.get_array()) values.push_back(double(value));
  return values;
}

ParameterValue parameter(const element& value) {
  if (value.is_string()) return std::string(std::string_view(value));
  if (value.is_array()) return numbers(value);
  return double(value);
}

}  // namespace

std::string read_data(const std::string& file) {
  std::ifstream in(std::string(MARGIN_GOLDEN_DATA) + "/" + file, std::ios::binary);
  if (!in) give_up(file, "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Stream read_stream(const std::string& name) {
  Stream stream;
  std::map<std::string, ModelId> ids;
  std::map<std::pair<std::string, std::string>, std::size_t> tasks;
  for_each_line(name + ".jsonl", [&](const element& object) {
    Row row{.phase = text_or_empty(object, "phase"),
            .task = std::string(std::string_view(object["task"])),
            .model = std::string(std::string_view(object["model"])),
            .answer = text_or_empty(object, "answer"),
            .confidence = number_or_null(object["confidence"]),
            .outcome = number_or_null(object["correct"])};
    const auto [model, new_model] = ids.try_emplace(row.model, static_cast<ModelId>(ids.size()));
    if (new_model) stream.models.push_back(row.model);
    row.id = model->second;
    const auto [task, new_task] = tasks.try_emplace({row.phase, row.task}, stream.tasks.size());
    if (new_task) stream.tasks.emplace_back();
    stream.tasks[task->second].push_back(stream.rows.size());
    stream.rows.push_back(std::move(row));
  });
  return stream;
}

std::vector<Expected> read_expected(const std::string& name) {
  std::vector<Expected> lines;
  for_each_line(name + ".expected.jsonl", [&](const element& object) {
    Expected expected{.method = std::string(std::string_view(object["method"])),
                      .calibrated = numbers(object["calibrated"]),
                      .ece = double(object["ece"]),
                      .brier = double(object["brier"]),
                      .log_loss = double(object["log_loss"])};
    simdjson::dom::object parameters;
    if (object["params"].get(parameters) == simdjson::SUCCESS) {
      for (const auto field : parameters) {
        if (field.key == "lag") {
          expected.lag = std::size_t(std::uint64_t(field.value));
        } else {
          expected.parameters.emplace(std::string(field.key), parameter(field.value));
        }
      }
    }
    lines.push_back(std::move(expected));
  });
  return lines;
}

std::vector<Selection> read_selections(const std::string& name) {
  std::vector<Selection> lines;
  for_each_line(name + ".selection.jsonl", [&](const element& object) {
    if (object["vote"].error() != simdjson::SUCCESS) return;
    Selection line{.method = text_or_empty(object, "method"), .vote = text_or_empty(object, "vote"), .pass1 = double(object["pass1"])};
    for (const element answer : object["selected"].get_array()) line.selected.emplace_back(std::string_view(answer));
    element probability;
    if (object["probability"].get(probability) == simdjson::SUCCESS) line.probability = numbers(probability);
    lines.push_back(std::move(line));
  });
  return lines;
}

std::vector<ExpectedResolution> read_resolutions(const std::string& name) {
  std::vector<ExpectedResolution> lines;
  for_each_line(name + ".selection.jsonl", [&](const element& object) {
    const auto rules = object["resolution"];
    if (rules.error() != simdjson::SUCCESS) return;
    lines.push_back({.method = text_or_empty(object, "method"),
                     .half = double(rules["half"]),
                     .strict = double(rules["strict"]),
                     .raw = double(rules["raw"])});
  });
  return lines;
}

}  // namespace margin::golden
