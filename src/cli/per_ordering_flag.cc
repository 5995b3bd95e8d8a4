#include "cli/per_ordering_flag.h"

#include "report/output_file.h"

namespace margin::cli {

void PerOrderingFlag::add_to(CLI::App& app) {
  app.add_option("--per-ordering", file, "Also write the scores of every ordering: CSV where the name ends in .csv, else JSON lines")
      ->type_name("FILE");
}

Status PerOrderingFlag::write(std::span<const experiment::OrderingScores> all) const {
  if (file.empty()) return {};
  using experiment::OrderingFormat;
  return report::write_file(file, ordering_lines(all, file.ends_with(".csv") ? OrderingFormat::kCsv : OrderingFormat::kJsonLines));
}

}  // namespace margin::cli
