// `margin simulate`: a cohort with known truth, as a file.
#include "dataset/simulate.h"

#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
#include "report/output_file.h"

namespace margin::cli {
namespace {

struct SimulateFlags {
  std::string cohort;
  std::string out;
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> tasks;
};

std::string describe_cohorts() {
  std::string out = "Cohorts:\n";
  for (const dataset::CohortInfo& info : dataset::cohort_catalog()) {
    out += "  " + std::string(info.name) + std::string(12 - info.name.size(), ' ') + std::string(info.summary) + "\n";
  }
  return out +
         "All are synthetic. Each row has an additional key \"p\": the probability that the response is right, which replays ignore.\n\n"
         "Examples:\n"
         "  margin simulate paper --out paper.jsonl\n"
         "  margin simulate collapse --tasks 500 --seed 7 --out - | margin replay - --orderings 0";
}

int run(const SimulateFlags& flags) {
  const Result<dataset::Simulation> simulation = dataset::simulate(flags.cohort, {.seed = flags.seed, .tasks = flags.tasks});
  if (!simulation) return complain(simulation.error().message);
  if (flags.out == "-") {
    dataset::write_json_lines(*simulation, [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stdout); });
    return std::ferror(stdout) == 0 ? print("") : complain("the standard output does not take the result", kFailed);
  }
  Result<report::OutputFile> file = report::OutputFile::create(flags.out);
  if (!file) return complain(file.error().message, kFailed);
  dataset::write_json_lines(*simulation, [&](std::string_view line) { file->write(line); });
  const Status written = file->commit();
  return written ? 0 : complain(written.error().message, kFailed);
}

}  // namespace

Command add_simulate(CLI::App& root) {
  CLI::App* app = root.add_subcommand("simulate", "Write a synthetic log whose truth is known");
  auto flags = std::make_shared<SimulateFlags>();
  app->footer(describe_cohorts());
  app->add_option("COHORT", flags->cohort, "One of those below")->required()->type_name("");
  app->add_option("--out", flags->out, "The log, as JSON lines; - is the standard output")->required()->type_name("FILE");
  app->add_option("--seed", flags->seed, "The same seed gives the same file")->check(not_negative)->type_name("N")->capture_default_str();
  app->add_option("--tasks", flags->tasks, "Number of tasks, 2000 by default; paper: of each phase, the published sizes by default")
      ->check(not_negative)
      ->type_name("N");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
