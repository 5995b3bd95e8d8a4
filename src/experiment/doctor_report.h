// How a diagnosis is shown: the verdict first, then a section per question with words, tables and pictures.
#pragma once

#include <span>

#include "experiment/doctor.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report doctor_report(std::span<const Diagnosis> diagnoses, const PassesSetting& setting);

}  // namespace margin::experiment
