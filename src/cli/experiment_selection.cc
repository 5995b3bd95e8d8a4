// `margin experiment selection`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "dataset/reader.h"
#include "dataset/text.h"
#include "experiment/selection_report.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kExperimentSelectionFooter =
    "pass@1 of the answer selected by the raw vote and by the calibrated vote of every method, beside a random model, the best single "
    "model\n"
    "(known only in hindsight; --commit chooses it elsewhere, as one would have had to) and an oracle. Differences are paired by task.\n"
    "--phase given several times: each phase is a stream of its own.\n\n"
    "Examples:\n"
    "  margin experiment selection log.jsonl\n"
    "  margin experiment selection log.jsonl --phase law --phase physics --method margin,margin_adaptive --report out\n"
    "  margin experiment selection new.jsonl --commit old.jsonl:pilot --vote stacked --json";

struct SelectionFlags {
  StreamFlags common;
  std::string commit;
};

struct SelectionPart {
  std::string name;
  Stream stream;
  std::vector<experiment::Entrant> entrants;
  std::optional<ModelId> committed;
};

Result<std::vector<Stream>> read_commit(const SelectionFlags& flags, const StreamInput& input) {
  if (flags.commit.empty()) return std::vector<Stream>{};
  const LogPlace place = parse_place(flags.commit);
  const auto log = dataset::read_observations(std::vector{place.file}, flags.common.log.read_options());
  if (!log) return log.error();
  auto streams = experiment::make_streams(*log, {.phases = place.phases, .kind = input.selection.kind});
  if (!streams) return Error{streams.error().code, "--commit: " + streams.error().message};
  return streams;
}

// A stream per channel, and per phase where phases were named.
Result<std::vector<SelectionPart>> make_parts(const SelectionFlags& flags, const StreamInput& input) {
  const Result<std::vector<Stream>> commits = read_commit(flags, input);
  if (!commits) return commits.error();
  std::vector<std::vector<std::string>> selections = {input.selection.phases};
  if (input.selection.phases.size() > 1) {
    selections.clear();
    for (const std::string& phase : input.selection.phases) selections.push_back({phase});
  }
  std::vector<SelectionPart> parts;
  for (const std::vector<std::string>& phases : selections) {
    experiment::RowSelection selection = input.selection;
    selection.phases = phases;
    Result<std::vector<Stream>> streams = experiment::make_streams(input.log, selection);
    if (!streams) return streams.error();
    for (Stream& stream : *streams) {
      if (const Status status = require_answers(stream); !status) return status.error();
      SelectionPart part{.name = phases.empty() ? stream.channel : phases.front() + ", " + stream.channel,
                         .stream = std::move(stream),
                         .entrants = {},
                         .committed = {}};
      Result<std::vector<experiment::Entrant>> entrants = input.entrants(part.stream);
      if (!entrants) return entrants.error();
      part.entrants = std::move(*entrants);
      for (const Stream& commit : *commits) {
        if (commit.channel == part.stream.channel) part.committed = experiment::best_single_elsewhere(commit, part.stream);
      }
      if (!commits->empty() && !part.committed) {
        return Error{ErrorCode::kInvalidArgument, "--commit: no task there has, in channel " + dataset::printable(part.stream.channel) +
                                                      ", graded responses of all the models it shares with this log"};
      }
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

int run(const SelectionFlags& flags) {
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  const Result<std::vector<SelectionPart>> parts = make_parts(flags, *input);
  if (!parts) return complain(parts.error().message);
  const experiment::PassesOptions& options = input->setting.options;
  std::vector<experiment::SelectionResult> results;
  {
    experiment::Progress progress;
    progress.total = parts->size() * experiment::selection_work(input->methods.labels.size(), options);
    const ProgressBar bar("selection", progress);
    for (const SelectionPart& part : *parts) {
      auto result =
          experiment::run_selection(part.name, part.stream, part.entrants, *input->methods.vote, part.committed, options, &progress);
      if (!result) break;
      results.push_back(std::move(*result));
    }
  }
  if (results.size() < parts->size()) return complain("stopped", kInterrupted);
  return deliver(experiment::selection_report(results, input->setting), flags.common.output);
}

}  // namespace

Command add_selection_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("selection", "Is the selected answer better: pass@1 against raw, best single model and oracle");
  auto flags = std::make_shared<SelectionFlags>();
  app->footer(kExperimentSelectionFooter);
  flags->common.add_to(*app);
  flags->common.add_resamples_to(*app);
  app->add_option("--commit", flags->commit, "Where the committed best single model is chosen")->type_name("FILE[:PHASE]");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
