#include "cli/stream_flags.h"

#include <algorithm>

#include "base/check.h"
#include "cli/command.h"
#include "dataset/reader.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

using dataset::printable;
using experiment::Stream;

// raw first, the others as asked for.
MethodFlags with_raw(MethodFlags flags) {
  const bool all = flags.methods == std::vector<std::string>{"all"};
  const auto raw = std::find(flags.methods.begin(), flags.methods.end(), "raw");
  if (!all && raw == flags.methods.end()) flags.methods.insert(flags.methods.begin(), "raw");
  return flags;
}

void move_raw_to_front(Methods& methods) {
  const auto place = std::find(methods.labels.begin(), methods.labels.end(), "raw") - methods.labels.begin();
  std::rotate(methods.labels.begin(), methods.labels.begin() + place, methods.labels.begin() + place + 1);
  std::rotate(methods.calibrators.begin(), methods.calibrators.begin() + place, methods.calibrators.begin() + place + 1);
}

}  // namespace

void StreamFlags::add_to(CLI::App& app) {
  app.add_option("FILE", files, "Logs, read as one; - is the standard input")->required()->type_name("");
  repeatable(app.add_option("--phase", phases, "Only rows of this phase; repeatable"))->type_name("NAME");
  methods.add_to(app);
  log.add_to(app);
  app.add_option("--fit", fit, "Rows that design-time methods are fitted on; without it they pass confidences through")
      ->type_name("FILE[:PHASE]");
  app.add_option("--orderings", orderings, "Random orders of the tasks within their phase to average over; 0: file order, once")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", seed, "Of orderings and resamples")->check(not_negative)->type_name("N")->capture_default_str();
  outcomes.add_to(app);
  app.add_option("--threads", threads, "0: all cores; the result does not depend on it")->check(CLI::Range(0, 1024))->type_name("N");
  output.add_to(app);
}

void StreamFlags::add_resamples_to(CLI::App& app) {
  app.add_option("--resamples", resamples, "Bootstrap resamples of the tasks; 0: no intervals")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
}

void SubsetFlags::add_to(CLI::App& app) {
  repeatable(app.add_option("--subset", typed, "Also for these models alone: a file with a name per line, or NAME=a,b; repeatable"))
      ->type_name("NAME=@FILE");
}

Result<std::vector<experiment::ModelSubset>> SubsetFlags::subsets() const {
  std::vector<experiment::ModelSubset> subsets;
  for (const std::string& text : typed) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      return Error{ErrorCode::kInvalidArgument, "--subset: got " + printable(text) + ", expected NAME=@FILE or NAME=a,b"};
    }
    experiment::ModelSubset subset{.name = text.substr(0, equals), .models = {}};
    if (std::any_of(subsets.begin(), subsets.end(), [&](const auto& other) { return other.name == subset.name; })) {
      return Error{ErrorCode::kInvalidArgument, "--subset: got " + printable(subset.name) + " twice, expected each name once"};
    }
    Result<std::vector<std::string>> names = model_names(CLI::detail::split(text.substr(equals + 1), ','));
    if (!names) return Error{names.error().code, "--subset " + printable(subset.name) + ": " + names.error().message};
    subset.models = std::move(*names);
    subsets.push_back(std::move(subset));
  }
  return subsets;
}

Result<std::vector<experiment::Entrant>> StreamInput::entrants(const Stream& stream) const {
  std::vector<Observation> calibration;
  for (const Stream& fit : fits) {
    if (fit.channel == stream.channel) calibration = experiment::calibration_rows(fit, stream);
  }
  if (!fits.empty() && calibration.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--fit: no graded row of a replayed model in channel " + printable(stream.channel)};
  }
  std::vector<experiment::Entrant> entrants;
  for (std::size_t i = 0; i < methods.labels.size(); ++i) {
    entrants.push_back({methods.labels[i], methods.calibrators[i]->clone()});
    if (!entrants.back().method->info().design_time || calibration.empty()) continue;
    const Status fitted = entrants.back().method->fit(calibration);
    MARGIN_CHECK(fitted.ok(), "a stream holds only what a calibrator accepts");
  }
  return entrants;
}

Result<StreamInput> read_input(const StreamFlags& flags) {
  Result<Methods> methods = make_methods(flags.raw_first ? with_raw(flags.methods) : flags.methods);
  if (!methods) return methods.error();
  if (flags.raw_first) move_raw_to_front(*methods);
  const Result<experiment::PassOptions> pass = flags.outcomes.pass();
  if (!pass) return pass.error();
  Result<experiment::RowSelection> selection = row_selection(flags.log, flags.phases);
  if (!selection) return selection.error();
  const dataset::ReadOptions read_options = flags.log.read_options();
  Result<dataset::ObservationLog> log = dataset::read_observations(flags.files, read_options);
  if (!log) return log.error();
  StreamInput input{.log = std::move(*log),
                    .selection = std::move(*selection),
                    .methods = std::move(*methods),
                    .fits = {},
                    .setting = {.options = {.orderings = flags.orderings,
                                            .seed = flags.seed,
                                            .pass = *pass,
                                            .resamples = flags.resamples,
                                            .threads = {flags.threads}},
                                .vote = flags.methods.vote,
                                .unfitted = {}}};
  bool design_time = false;
  for (std::size_t i = 0; i < input.methods.labels.size(); ++i) {
    if (!input.methods.calibrators[i]->info().design_time) continue;
    design_time = true;
    if (flags.fit.empty()) input.setting.unfitted.push_back(input.methods.labels[i]);
  }
  if (flags.fit.empty()) return input;
  if (!design_time) return Error{ErrorCode::kInvalidArgument, "--fit: none of the selected methods is fitted"};
  const LogPlace source = parse_place(flags.fit);
  const Result<dataset::ObservationLog> fit_log = dataset::read_observations(std::vector{source.file}, read_options);
  if (!fit_log) return fit_log.error();
  auto fits = experiment::make_streams(*fit_log, {.phases = source.phases});
  if (!fits) return Error{fits.error().code, "--fit: " + fits.error().message};
  input.fits = std::move(*fits);
  return input;
}

Status require_answers(const Stream& stream) {
  const bool any = std::any_of(stream.tasks.begin(), stream.tasks.end(), [](const Stream::Task& task) { return task.answers > 0; });
  if (any) return {};
  return {ErrorCode::kInvalidArgument, "no usable row of channel " + printable(stream.channel) +
                                           " states an answer, so nothing can be selected: expected the field answer"};
}

}  // namespace margin::cli
