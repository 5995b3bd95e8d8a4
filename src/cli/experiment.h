// What an experiment of `margin experiment` is. A new one is a file that defines add_NAME_experiment() and a line in experiment.cc.
#pragma once

#include "cli/command.h"

namespace margin::cli {

Command add_shift_experiment(CLI::App& experiment);
Command add_transfer_experiment(CLI::App& experiment);
Command add_pool_experiment(CLI::App& experiment);
Command add_ablation_experiment(CLI::App& experiment);
Command add_feedback_experiment(CLI::App& experiment);
Command add_selection_experiment(CLI::App& experiment);
Command add_resolution_experiment(CLI::App& experiment);
Command add_inversion_experiment(CLI::App& experiment);
Command add_convergence_experiment(CLI::App& experiment);
Command add_split_experiment(CLI::App& experiment);
Command add_paper_experiment(CLI::App& experiment);
Command add_watch_experiment(CLI::App& experiment);
Command add_gaming_experiment(CLI::App& experiment);
Command add_votes_experiment(CLI::App& experiment);

}  // namespace margin::cli
