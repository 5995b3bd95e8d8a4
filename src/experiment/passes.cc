#include "experiment/passes.h"

#include <algorithm>
#include <cmath>

#include "experiment/ordering.h"
#include "margin/exact_sum.h"

namespace margin::experiment {
namespace {

// Whether mean_of_orderings() says the same as all the rows, and sooner.
bool linear(std::span<const TaskRows> passes) {
  const TaskRows& first = passes.front();
  if (first.numerators() != 1) return false;
  return std::all_of(passes.begin(), passes.end(), [&](const TaskRows& rows) {
    for (std::size_t task = 0; task < rows.tasks(); ++task) {
      if (rows.denominator(task) != first.denominator(task)) return false;
    }
    return true;
  });
}

}  // namespace

std::vector<std::uint32_t> order_of_pass(const Stream& stream, const PassesOptions& options, std::size_t pass) {
  return options.orderings == 0 ? file_order(stream) : shuffled_order(stream, options.seed, pass);
}

PassOptions options_of_pass(const PassesOptions& options, std::size_t pass) {
  PassOptions one = options.pass;
  one.audits = repetition({.rate = one.audits.rate, .seed = options.seed}, pass);
  return one;
}

bool for_each_pass(const Stream& stream, const Calibrator& method, const Vote& vote, const PassesOptions& options, Progress* progress,
                   const std::function<void(std::size_t, Pass&)>& visit) {
  return parallel_for(options.passes(), options.threads, progress, [&](std::size_t number) {
    Pass pass = replay(stream, order_of_pass(stream, options, number), method, vote, options_of_pass(options, number));
    visit(number, pass);
  });
}

Resampling::Resampling(std::size_t tasks, const PassesOptions& options, Progress* progress)
    : threads_(options.threads), progress_(progress) {
  if (options.resamples == 0 || tasks == 0) return;
  resamples_.emplace(TaskResamples::Options{.tasks = tasks, .resamples = options.resamples, .seed = options.seed});
}

void Resampling::in_pieces(const std::function<void(std::size_t, std::size_t)>& work) const {
  parallel_for(resample_pieces(resamples_->resamples()), threads_, progress_, [&](std::size_t piece) {
    const std::size_t first = piece * kResamplesPerPiece;
    work(first, std::min(kResamplesPerPiece, resamples_->resamples() - first));
  });
}

Resampled Resampling::of(std::span<const TaskRows> passes) const {
  if (!resamples_ || passes.empty()) return {};
  const TaskColumns rows(linear(passes) ? TaskColumns(std::vector{mean_of_orderings(passes)}) : TaskColumns(passes));
  Resampled values(resamples_->resamples());
  in_pieces(
      [&](std::size_t first, std::size_t count) { resample_range(*resamples_, rows, first, std::span(values).subspan(first, count)); });
  return values;
}

Resampled Resampling::of(std::span<const std::optional<double>> outcomes) const {
  const TaskRows rows = mean_rows(outcomes);
  return of(std::span(&rows, 1));
}

Resampled Resampling::of(const std::function<std::optional<double>(std::span<const std::uint8_t>)>& statistic) const {
  if (!resamples_) return {};
  Resampled values(resamples_->resamples());
  in_pieces([&](std::size_t first, std::size_t count) {
    for (std::size_t r = first; r < first + count; ++r) values[r] = statistic(resamples_->counts(r));
  });
  return values;
}

std::size_t pieces_of(const Work& work, const PassesOptions& options) {
  return work.passes * options.passes() + work.statistics * resample_pieces(options.resamples);
}

}  // namespace margin::experiment
