// The pictures of an evaluation that kept its first passes, for its report.
#pragma once

#include <vector>

#include "experiment/evaluation.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

// Of the first pass: reliability of what was stated and of what each method made of it, the factors of methods with bands at the end, and
// risk against coverage of the decisions where there are any.
[[nodiscard]] std::vector<report::Figure> pictures_of(const Evaluation& evaluation, const PassesSetting& setting);

}  // namespace margin::experiment
