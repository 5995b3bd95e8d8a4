#include "experiment/resolution.h"

namespace margin::experiment {
namespace {

class Resolver {
 public:
  Resolver(const Stream& stream, const GradedStream& graded, const Vote& vote, const PassesOptions& options, Progress* progress)
      : stream_(stream),
        graded_(graded),
        vote_(vote),
        options_(options),
        progress_(progress),
        resampling_(graded.size(), options, progress) {}

  std::optional<ResolutionRow> row(const Entrant& entrant, const ResolutionRules& rules) const {
    std::vector<TaskRows> rows(options_.passes(), TaskRows(0, 1));
    std::vector<Resolution> totals(options_.passes());
    const bool finished = for_each_pass(stream_, *entrant.method, vote_, options_, progress_, [&](std::size_t number, const Pass& pass) {
      GradedStream calibrated = graded_;
      calibrated.calibrate(pass);
      std::vector<Resolution> per_task;
      for (std::size_t task = 0; task < calibrated.size(); ++task) {
        per_task.push_back(resolution(calibrated.task(task), rules));
        totals[number] += per_task.back();
      }
      rows[number] = resolution_rows(per_task);
    });
    if (!finished) return std::nullopt;
    ResolutionRow row{.label = entrant.label, .tie = rules.tie};
    std::vector<std::optional<double>> values;
    for (const Resolution& total : totals) {
      values.push_back(total.value());
      row.contests += static_cast<double>(total.contests);
      row.ties += static_cast<double>(total.ties);
      row.missing += static_cast<double>(total.missing);
    }
    for (double* count : {&row.contests, &row.ties, &row.missing}) *count /= static_cast<double>(totals.size());
    row.both_right = totals.front().both_right;
    row.both_wrong = totals.front().both_wrong;
    const Spread spread = spread_of(values);
    row.resolution = {spread.mean, resampling_.of(rows)};
    row.sd = spread.sd;
    return row;
  }

 private:
  const Stream& stream_;
  const GradedStream& graded_;
  const Vote& vote_;
  const PassesOptions& options_;
  Progress* progress_;
  Resampling resampling_;
};

}  // namespace

std::size_t resolution_work(std::size_t entrants, const PassesOptions& options) {
  constexpr std::size_t kMoreOfRaw = 2;
  return pieces_of({.passes = entrants + kMoreOfRaw, .statistics = entrants + kMoreOfRaw}, options);
}

std::optional<ResolutionResult> run_resolution(const Stream& stream, const GradedStream& graded, std::span<const Entrant> entrants,
                                               const Vote& vote, const ResolutionRules& rules, const PassesOptions& options,
                                               Progress* progress) {
  const Resolver resolver(stream, graded, vote, options, progress);
  ResolutionResult result{.channel = stream.channel, .subset = {}, .models = stream.models.size(), .tasks = graded.size(), .rows = {}};
  const std::optional<ResolutionRow> base = resolver.row(entrants.front(), rules);
  if (!base) return std::nullopt;
  for (const TieRule tie : {TieRule::kHalf, TieRule::kStrict}) {
    std::optional<ResolutionRow> row =
        tie == rules.tie ? base : resolver.row(entrants.front(), {.contest = rules.contest, .tie = tie, .missing = rules.missing});
    if (!row) return std::nullopt;
    result.rows.push_back(std::move(*row));
  }
  for (const Entrant& entrant : entrants.subspan(1)) {
    std::optional<ResolutionRow> row = resolver.row(entrant, rules);
    if (!row) return std::nullopt;
    row->over_raw = difference_of(row->resolution, base->resolution);
    result.rows.push_back(std::move(*row));
  }
  if (progress != nullptr && progress->stop) return std::nullopt;
  return result;
}

}  // namespace margin::experiment
