// `margin doctor`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "experiment/doctor_report.h"
#include "experiment/split.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kDoctorFooter =
    "Is the log usable? Would calibration and voting help, and is that certain? How many outcomes does it take to know, and does it "
    "change? In "
    "words,\n"
    "with the numbers under them. The log is replayed in the order of the file, as if it had been live. Help is claimed only when a 95% "
    "interval\nleaves zero out. The first of --method is the one that the words speak of.\n\n"
    "Examples:\n"
    "  margin doctor log.jsonl\n"
    "  margin doctor log.jsonl --phase law --vote stacked --effect 1 --report out";

constexpr double kEffectMax = 100.0;

struct DoctorFlags {
  StreamFlags common;
  double effect = 2.0;  // percentage points
};

int run(const DoctorFlags& flags) {
  if (flags.common.resamples == 0) return complain("--resamples: got 0, expected at least 1: without intervals nothing can be claimed");
  if (!(flags.effect > 0.0 && flags.effect <= kEffectMax)) return complain("--effect: expected a number of points above 0, at most 100");
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  if (input->methods.labels.size() < 2) return complain("--method: got raw alone, expected a method to compare it with");
  const Result<std::vector<Stream>> streams = experiment::make_streams(input->log, input->selection);
  if (!streams) return complain(streams.error().message);

  const experiment::DoctorOptions options{.passes = input->setting.options, .effect = flags.effect / 100.0};
  std::vector<std::string> phases;
  for (std::uint32_t phase = 0; phase < input->log.phases().size(); ++phase) phases.push_back(input->log.phases()[phase]);
  std::vector<std::vector<experiment::Entrant>> entrants;
  experiment::Progress progress;
  for (const Stream& stream : *streams) {
    Result<std::vector<experiment::Entrant>> of_stream = input->entrants(stream);
    if (!of_stream) return complain(of_stream.error().message);
    progress.total += experiment::doctor_work(stream, of_stream->size(), options);
    entrants.push_back(std::move(*of_stream));
  }
  std::vector<experiment::Diagnosis> diagnoses;
  {
    const ProgressBar bar("doctor", progress);
    for (std::size_t i = 0; i < streams->size(); ++i) {
      const Stream& stream = (*streams)[i];
      const experiment::LogSides sides{.moments = experiment::task_moments(stream, input->log), .phases = phases};
      auto found = experiment::run_doctor(stream, sides, entrants[i], *input->methods.vote, options, &progress);
      if (!found) break;
      diagnoses.push_back(std::move(*found));
    }
  }
  if (diagnoses.size() < streams->size()) return complain("stopped", kInterrupted);
  return deliver(experiment::doctor_report(diagnoses, input->setting), flags.common.output);
}

}  // namespace

Command add_doctor(CLI::App& root) {
  CLI::App* app = root.add_subcommand("doctor", "Is a log usable, would calibration and voting help, how much more data does it take?");
  auto flags = std::make_shared<DoctorFlags>();
  flags->common.methods.methods = {"margin_adaptive", "margin"};
  flags->common.orderings = 0;
  flags->common.resamples = 2000;
  app->footer(kDoctorFooter);
  flags->common.add_to(*app);
  flags->common.add_resamples_to(*app);
  app->add_option("--effect", flags->effect, "The smallest difference worth having, in percentage points")
      ->type_name("POINTS")
      ->capture_default_str();
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
