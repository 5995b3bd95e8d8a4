// Reading JSON lines into an ObservationLog, every check on, beside simdjson merely walking the same bytes.
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/reader.h"
#include "dataset/simulate.h"
#include "dataset/temporary_file.h"
#include "ratio_report.h"

namespace margin {
namespace {

namespace ondemand = simdjson::ondemand;

const std::string kWalk = "simdjson_walk";

// A cohort as `margin simulate` writes it; its rows have an unknown key too.
const std::string& content() {
  static const std::string kText = [] {
    std::string text;
    dataset::write_json_lines(*dataset::simulate("newcomers", {.tasks = 20'000}), [&](std::string_view line) { text += line; });
    return text;
  }();
  return kText;
}

const dataset::TemporaryFile& file() {
  static const dataset::TemporaryFile kFile(content());
  return kFile;
}

// What was looked at, summed so that no look can be optimised away.
struct Walked {
  std::size_t lines = 0;
  std::size_t text_bytes = 0;
  double numbers = 0.0;
};

// The fastest walk we know: fields in place, keys as they stand.
simdjson::error_code walk(ondemand::object object, Walked& walked) {
  for (auto next : object) {
    if (next.error() != simdjson::SUCCESS) return next.error();
    ondemand::field&& field = std::move(next).value_unsafe();
    ondemand::value& value = field.value();
    ondemand::json_type type;
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::string) {
      std::string_view text;
      if (const auto error = value.get_string().get(text)) return error;
      walked.text_bytes += text.size();
    } else if (type == ondemand::json_type::number) {
      double number = 0.0;
      if (const auto error = value.get_double().get(number)) return error;
      walked.numbers += number;
    }
  }
  return simdjson::SUCCESS;
}

// Every field of every line, its value read and thrown away: from memory, one buffer for all lines, nothing checked or kept.
Walked walk_all(ondemand::parser& parser, const simdjson::padded_string& text) {
  Walked walked;
  ondemand::document_stream lines;
  if (parser.iterate_many(text, text.size()).get(lines) != simdjson::SUCCESS) return walked;
  for (auto line : lines) {
    ondemand::object object;
    if (line.get_object().get(object) != simdjson::SUCCESS || walk(object, walked) != simdjson::SUCCESS) return {};
    ++walked.lines;
  }
  return walked;
}

void simdjson_walk(benchmark::State& state) {
  const simdjson::padded_string text(content());
  ondemand::parser parser;
  for (auto _ : state) {
    const Walked walked = walk_all(parser, text);
    if (walked.lines == 0) state.SkipWithError("malformed");
    benchmark::DoNotOptimize(walked);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(content().size()));
}

void read_observations(benchmark::State& state) {
  const std::array paths = {file().path()};
  for (auto _ : state) {
    const auto log = dataset::read_observations(paths);
    if (!log) state.SkipWithError(log.error().message.c_str());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(content().size()));
}

// Before anything is timed: both see the same lines.
void compare() {
  ondemand::parser parser;
  const Walked walked = walk_all(parser, simdjson::padded_string(content()));
  const auto log = dataset::read_observations(std::array{file().path()});
  if (!log || log->rows() != walked.lines) {
    std::fprintf(stderr, "simdjson walked %zu lines, the reader has %zu rows\n", walked.lines, log ? log->rows() : 0);
    std::exit(1);
  }
  std::printf("%zu rows, %.1f MB, by both\n", log->rows(), static_cast<double>(content().size()) / 1e6);
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  margin::compare();
  benchmark::RegisterBenchmark(margin::kWalk.c_str(), margin::simdjson_walk);
  benchmark::RegisterBenchmark("read_observations", margin::read_observations);
  return margin::bench::run(argc, argv, {{"read_observations", margin::kWalk, 3.0}});
}
