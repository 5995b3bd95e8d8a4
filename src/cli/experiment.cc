// `margin experiment`: finds the experiment and hands over.
#include "cli/experiment.h"

#include <vector>

#include "base/suggest.h"
#include "dataset/text.h"

namespace margin::cli {

Command add_experiment(CLI::App& root) {
  CLI::App* app = root.add_subcommand("experiment", "Run an experiment on logs: means, intervals, who beats whom");
  const std::vector<Command> experiments = {
      add_shift_experiment(*app),       add_transfer_experiment(*app),  add_pool_experiment(*app),       add_ablation_experiment(*app),
      add_feedback_experiment(*app),    add_selection_experiment(*app), add_resolution_experiment(*app), add_inversion_experiment(*app),
      add_convergence_experiment(*app), add_split_experiment(*app),     add_paper_experiment(*app),      add_watch_experiment(*app),
      add_gaming_experiment(*app),      add_votes_experiment(*app)};
  for (const Command& experiment : experiments) experiment.app->allow_extras();
  return {app, [experiments] {
            std::vector<std::string> names;
            for (const Command& experiment : experiments) {
              if (experiment.app->parsed()) {
                if (const auto refused = refuse_unknown(*experiment.app)) return *refused;
                return experiment.run();
              }
              names.push_back(experiment.app->get_name());
            }
            return complain("experiment: expected the name of an experiment" + internal::suggestion("", names));
          }};
}

}  // namespace margin::cli
