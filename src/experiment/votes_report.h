// How votes are shown: pass@1 beside that of the others and of single models, and how well the decisions knew themselves.
#pragma once

#include <span>
#include <string>

#include "experiment/votes.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report votes_report(std::span<const VotesGroup> groups, const VotesOptions& options, const std::string& focus);

}  // namespace margin::experiment
