// `margin experiment`: finds the experiment and hands over.
#include "cli/experiment.h"

#include "cli/group.h"

namespace margin::cli {

Command add_experiment(CLI::App& root) {
  CLI::App* app = root.add_subcommand("experiment", "Run an experiment on logs: means, intervals, who beats whom");
  return group(app, "the name of an experiment",
               {add_shift_experiment(*app), add_transfer_experiment(*app), add_pool_experiment(*app), add_ablation_experiment(*app),
                add_feedback_experiment(*app), add_selection_experiment(*app), add_resolution_experiment(*app),
                add_inversion_experiment(*app), add_convergence_experiment(*app), add_split_experiment(*app), add_paper_experiment(*app),
                add_watch_experiment(*app), add_gaming_experiment(*app), add_votes_experiment(*app)});
}

}  // namespace margin::cli
