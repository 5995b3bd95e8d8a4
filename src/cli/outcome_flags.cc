#include "cli/outcome_flags.h"

#include "base/check.h"
#include "cli/command.h"

namespace margin::cli {

std::vector<std::string> remedy_names() { return {kRemedyNames.begin(), kRemedyNames.end()}; }

RemedyKind remedy_kind(const std::string& name) {
  const Result<Remedy> remedy = make_remedy(name);
  MARGIN_CHECK(remedy.ok(), "the names were checked when they were typed");
  return remedy->kind();
}

void OutcomeFlags::add_to(CLI::App& app) {
  app.add_option("--lag", lag, "Outcomes are learned this many rows late")->check(not_negative)->type_name("ROWS")->capture_default_str();
  app.add_option("--feedback", feedback, "Outcomes that arrive: full (all), or selected (only those of the selected answer's supporters)")
      ->check(CLI::IsMember({"full", "selected"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--remedy", remedy, "What the other responses teach: none, weighted, implied (one right answer), estimated (many)")
      ->check(CLI::IsMember(remedy_names()))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--audit", audit, "Share of the other responses whose outcome arrives too, drawn by --seed")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("RATE")
      ->capture_default_str();
}

Result<experiment::PassOptions> OutcomeFlags::pass() const {
  const bool selected = feedback == "selected";
  if (!selected && (remedy != "none" || audit > 0.0)) {
    return Error{ErrorCode::kInvalidArgument, "--remedy and --audit: expected --feedback selected, since otherwise every outcome arrives"};
  }
  if (remedy == "weighted" && audit == 0.0) {
    return Error{ErrorCode::kInvalidArgument, "--remedy weighted: expected --audit, since otherwise there is nothing to weight"};
  }
  return experiment::PassOptions{.lag = lag,
                                 .feedback = selected ? experiment::Feedback::kSelected : experiment::Feedback::kFull,
                                 .remedy = remedy_kind(remedy),
                                 .audits = {.rate = audit}};
}

}  // namespace margin::cli
