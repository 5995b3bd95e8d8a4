#include "cli/outcome_flags.h"

#include "cli/command.h"

namespace margin::cli {

void OutcomeFlags::add_to(CLI::App& app) {
  app.add_option("--lag", lag, "Outcomes are learned this many rows late")->check(not_negative)->type_name("ROWS")->capture_default_str();
  app.add_option("--feedback", feedback, "Outcomes that arrive: full (all), or selected (only those of the selected answer's supporters)")
      ->check(CLI::IsMember({"full", "selected"}))
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace margin::cli
