// How the published evaluation is shown: every published table beside that of the simulated cohort, with the difference.
#pragma once

#include "experiment/paper.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report paper_report(const PaperResults& results, const PaperOptions& options);

}  // namespace margin::experiment
