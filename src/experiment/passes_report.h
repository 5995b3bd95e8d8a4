// What the reports of experiments on one stream have in common: how the numbers were made, in words.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "experiment/passes.h"
#include "report/text.h"

namespace margin::experiment {

// How the results were made, for their heading.
struct PassesSetting {
  PassesOptions options;
  std::string vote;
  std::vector<std::string> unfitted;  // design-time methods without calibration rows
  std::string order = "file order";   // of a single pass
};

[[nodiscard]] inline std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", report::with_commas(static_cast<double>(count)), thing, count == 1 ? "" : "s");
}

// ", outcomes 10 rows late, outcomes of the selected answer alone, remedy implied": nothing where all outcomes arrive at once.
[[nodiscard]] inline std::string outcome_words(const PassOptions& pass) {
  std::string text;
  if (pass.lag > 0) text += fmt::format(", outcomes {} late", counted(pass.lag, "row"));
  if (pass.feedback != Feedback::kSelected) return text;
  text += ", outcomes of the selected answer alone";
  if (pass.audits.rate > 0.0) text += fmt::format(" and of {}% of the other responses", 100.0 * pass.audits.rate);
  if (pass.remedy != RemedyKind::kNone) text += fmt::format(", remedy {}", kRemedyNames[static_cast<std::size_t>(pass.remedy)]);
  return text;
}

// "mean over 100 orderings of seed 1, vote sum; brackets: 95% over 10,000 resamples of the tasks".
[[nodiscard]] inline std::string how(const PassesSetting& setting) {
  std::string text = setting.options.orderings == 0
                         ? setting.order + ", once"
                         : fmt::format("mean over {} of seed {}", counted(setting.options.orderings, "ordering"), setting.options.seed);
  text += ", vote " + setting.vote + outcome_words(setting.options.pass);
  if (setting.options.resamples > 0) {
    text += fmt::format("; brackets: 95% intervals over {} of the tasks", counted(setting.options.resamples, "resample"));
  }
  return text;
}

// The first paragraphs of a report: what is there, how it was made, and what to beware of. Names in `what` are hostile text.
[[nodiscard]] inline std::vector<std::string> summary_of(const std::string& what, const PassesSetting& setting) {
  std::vector<std::string> paragraphs = {fmt::format("{}; {}.", report::visible(what), how(setting))};
  if (!setting.unfitted.empty()) {
    paragraphs.push_back(
        fmt::format("Not fitted, so confidences pass through unchanged (--fit FILE[:PHASE]): {}.", fmt::join(setting.unfitted, ", ")));
  }
  return paragraphs;
}

}  // namespace margin::experiment
