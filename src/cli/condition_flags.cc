#include "cli/condition_flags.h"

#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "cli/command.h"
#include "dataset/reader.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

using dataset::printable;
using experiment::Condition;
using experiment::Stream;

struct Pair {
  std::string source, target, name;
};

// "easy->hard" when both name their phase, else the places as typed.
std::string default_name(const std::string& source, const std::string& target) {
  const LogPlace from = parse_place(source);
  const LogPlace to = parse_place(target);
  if (from.phases.empty() || to.phases.empty()) return source + "->" + target;
  return from.phases.front() + "->" + to.phases.front();
}

Result<std::vector<Pair>> read_grid(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "--grid: " + printable(path, 400) + " cannot be opened"};
  std::vector<Pair> pairs;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    Pair pair;
    if (!(words >> pair.source)) continue;
    if (!(words >> pair.target)) {
      return Error{ErrorCode::kInvalidArgument,
                   printable(path, 400) + ":" + std::to_string(number) + ": got one word, expected SOURCE TARGET [NAME]"};
    }
    if (!(words >> pair.name)) pair.name = default_name(pair.source, pair.target);
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) return Error{ErrorCode::kInvalidArgument, "--grid: " + printable(path, 400) + " names no condition"};
  return pairs;
}

// Logs are read once, however many conditions use them.
class Logs {
 public:
  explicit Logs(const LogFlags& flags) : flags_(flags) {}

  Result<const dataset::ObservationLog*> open(const std::string& file) {
    auto& log = logs_[file];
    if (log == nullptr) {
      Result<dataset::ObservationLog> read = dataset::read_observations(std::vector{file}, flags_.read_options());
      if (!read) return read.error();
      log = std::make_unique<dataset::ObservationLog>(std::move(*read));
    }
    return static_cast<const dataset::ObservationLog*>(log.get());
  }

  // One stream: with several channels the flags must choose one.
  Result<Stream> stream(const std::string& file, std::vector<std::string> phases) {
    const Result<const dataset::ObservationLog*> log = open(file);
    if (!log) return log.error();
    const Result<experiment::RowSelection> selection = row_selection(flags_, std::move(phases));
    if (!selection) return selection.error();
    Result<std::vector<Stream>> streams = experiment::make_streams(**log, *selection);
    if (!streams) return streams.error();
    if (streams->size() != 1) {
      return Error{ErrorCode::kInvalidArgument,
                   printable(file, 400) + " has " + std::to_string(streams->size()) + " channels here: choose one with --channel"};
    }
    return std::move(streams->front());
  }

 private:
  const LogFlags& flags_;
  std::map<std::string, std::unique_ptr<dataset::ObservationLog>> logs_;
};

}  // namespace

Result<std::vector<Condition>> read_conditions(const ConditionFlags& flags, const LogFlags& log_flags) {
  const int ways =
      (flags.source.empty() && flags.target.empty() ? 0 : 1) + (flags.grid.empty() ? 0 : 1) + (flags.all_pairs.empty() ? 0 : 1);
  if (ways != 1 || flags.source.empty() != flags.target.empty()) {
    return Error{ErrorCode::kInvalidArgument, "expected either --source and --target, or --grid, or --all-pairs"};
  }
  Logs logs(log_flags);
  std::vector<Condition> conditions;
  const auto add = [&](const std::string& name, const LogPlace& from, const LogPlace& to) -> Status {
    Result<Stream> source = logs.stream(from.file, from.phases);
    if (!source) return source.error();
    Result<Stream> target = logs.stream(to.file, to.phases);
    if (!target) return target.error();
    conditions.push_back(experiment::make_condition(name, *source, *target));
    return {};
  };
  if (!flags.all_pairs.empty()) {
    const Result<const dataset::ObservationLog*> log = logs.open(flags.all_pairs);
    if (!log) return log.error();
    const auto& phases = (*log)->phases();
    for (std::uint32_t from = 0; from < phases.size(); ++from) {
      for (std::uint32_t to = 0; to < phases.size(); ++to) {
        if (from == to) continue;
        const std::string source(phases[from]);
        const std::string target(phases[to]);
        std::string name = source;
        name.append("->").append(target);
        if (Status status = add(name, {flags.all_pairs, {source}}, {flags.all_pairs, {target}}); !status) return status.error();
      }
    }
    if (conditions.empty()) return Error{ErrorCode::kInvalidArgument, "--all-pairs: the log has fewer than two phases"};
    return conditions;
  }
  std::vector<Pair> pairs = {{flags.source, flags.target, default_name(flags.source, flags.target)}};
  if (!flags.grid.empty()) {
    Result<std::vector<Pair>> read = read_grid(flags.grid);
    if (!read) return read.error();
    pairs = std::move(*read);
  }
  for (const Pair& pair : pairs) {
    if (Status status = add(pair.name, parse_place(pair.source), parse_place(pair.target)); !status) return status.error();
  }
  return conditions;
}

Result<Stream> read_stream(const std::string& place, const LogFlags& log_flags) {
  const LogPlace parsed = parse_place(place);
  return Logs(log_flags).stream(parsed.file, parsed.phases);
}

void ConditionFlags::add_to(CLI::App& app) {
  app.add_option("--source", source, "Where methods learn before the shift")->type_name("FILE[:PHASE]");
  app.add_option("--target", target, "Where they are scored")->type_name("FILE[:PHASE]");
  app.add_option("--grid", grid, "A file of conditions instead")->type_name("FILE");
  app.add_option("--all-pairs", all_pairs, "Every ordered pair of this log's phases instead")->type_name("FILE");
}

void BoundaryFlag::add_to(CLI::App& app) {
  app.add_option("--boundary", boundary, "What happens between source and target: told, carry, reset or restart")
      ->type_name("NAME")
      ->capture_default_str();
}

Result<experiment::Boundary> BoundaryFlag::parse() const {
  Result<experiment::Boundary> parsed = experiment::parse_boundary(boundary);
  if (!parsed) return Error{parsed.error().code, "--" + parsed.error().message};
  return parsed;
}

void RunFlags::add_to(CLI::App& app) {
  app.add_option("--orderings", orderings, "Random orders of the tasks to average over")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", seed, "Of everything random")->check(not_negative)->type_name("N")->capture_default_str();
  app.add_option("--threads", threads, "0: all cores; the result does not depend on it")->check(CLI::Range(0, 1024))->type_name("N");
}

void RunFlags::add_resamples_to(CLI::App& app) {
  app.add_option("--resamples", resamples, "Bootstrap resamples of the target's tasks; 0: no intervals")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
}

void PoolSizeFlags::add_to(CLI::App& app) {
  repeatable(app.add_option("--pools", pools, "Also with some of the models alone: pools of these sizes, such as 1,2,3,all"))
      ->delimiter(',')
      ->type_name("SIZES");
  app.add_option("--subsets", subsets, "With --pools: random pools of each size above 1, at most")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->capture_default_str();
}

Result<std::vector<std::size_t>> PoolSizeFlags::sizes() const {
  std::vector<std::size_t> sizes;
  for (const std::string& text : pools) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    const bool whole = error == std::errc() && end == text.data() + text.size() && size > 0;
    if (!whole && text != "all") {
      return Error{ErrorCode::kInvalidArgument, "--pools: got " + printable(text) + ", expected whole numbers from 1, or all"};
    }
    sizes.push_back(whole ? size : 0);
  }
  return sizes;
}

}  // namespace margin::cli
