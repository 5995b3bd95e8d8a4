// Resampling as a matrix product: counts (resamples x tasks) times rows (tasks x features).
// Plain sums, each over the tasks in order in one chain, so neither tiling nor threads change a bit of the result.
#include "margin/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "margin/random.h"
#include "metric/product.h"

namespace margin {
namespace {

using internal::kBlockResamples;

// By resample of a block.
using Block = std::array<double, kBlockResamples>;

// How often each task occurs in the resamples of a block, task by task; missing resamples count 0.
void fill_panel(const TaskResamples& resamples, std::size_t first, std::size_t size, std::vector<Block>& panel) {
  for (std::size_t r = 0; r < size; ++r) {
    const std::span<const std::uint8_t> counts = resamples.counts(first + r);
    for (std::size_t t = 0; t < panel.size(); ++t) panel[t][r] = counts[t];
  }
  for (Block& counts : panel) std::fill(counts.begin() + static_cast<std::ptrdiff_t>(size), counts.end(), 0.0);
}

}  // namespace

TaskColumns::TaskColumns(std::span<const TaskRows> orderings) : tasks_(orderings.empty() ? 0 : orderings[0].tasks()) {
  for (const TaskRows& rows : orderings) {
    const TaskRows& first = orderings[0];
    MARGIN_CHECK(rows.tasks() == tasks_ && rows.numerators() == first.numerators(), "rows are of one shape");
    if (!orderings_.empty() && std::ranges::equal(rows.values(), first.values())) {
      orderings_.push_back(orderings_.front());
      continue;
    }
    Ordering ordering{.first_numerator = columns_, .numerators = 0, .denominator = 0};
    const auto all_tasks = [&](const auto& holds) {
      for (std::size_t t = 0; t < tasks_; ++t) {
        if (!holds(t)) return false;
      }
      return true;
    };
    for (std::size_t i = 0; i < rows.numerators(); ++i) {
      if (all_tasks([&](std::size_t t) { return rows.numerator(t, i) == 0.0; })) continue;
      add_column(rows, i);
      ++ordering.numerators;
    }
    const bool known = !orderings_.empty() && all_tasks([&](std::size_t t) { return rows.denominator(t) == first.denominator(t); });
    ordering.denominator = known ? orderings_.front().denominator : add_column(rows, rows.numerators());
    orderings_.push_back(ordering);
  }
}

std::size_t TaskColumns::add_column(const TaskRows& rows, std::size_t i) {
  const std::size_t place = columns_ % kTileColumns;
  if (place == 0) values_.resize(values_.size() + kTileColumns * tasks_);
  double* column = values_.data() + columns_ / kTileColumns * kTileColumns * tasks_ + place;
  for (std::size_t t = 0; t < tasks_; ++t) column[t * kTileColumns] = rows.values()[t * (rows.numerators() + 1) + i];
  return columns_++;
}

TaskResamples::TaskResamples(const Options& options)
    : tasks_(options.tasks), resamples_(options.resamples), counts_(options.tasks * options.resamples) {
  for (std::size_t r = 0; r < resamples_; ++r) {
    Random random = Random::stream(options.seed, r);
    std::uint8_t* counts = counts_.data() + r * tasks_;
    for (std::size_t draw = 0; draw < tasks_; ++draw) {
      std::uint8_t& count = counts[random.below(tasks_)];
      MARGIN_CHECK(count < 255, "no task is drawn 256 times");  // a count is nearly Poisson(1): the chance is below 1e-500
      ++count;
    }
  }
}

void resample_range(const TaskResamples& resamples, const TaskColumns& rows, std::size_t first, std::span<std::optional<double>> out) {
  MARGIN_CHECK(first + out.size() <= resamples.resamples(), "the range lies within the resamples");
  std::fill(out.begin(), out.end(), std::nullopt);
  if (rows.orderings() == 0) return;
  MARGIN_CHECK(rows.tasks() == resamples.tasks(), "rows and resamples are of the same tasks");
  const internal::TileProduct multiply = internal::tile_products().front().multiply;
  std::vector<Block> panel(rows.tasks());
  std::vector<Block> sums(rows.tiles() * internal::kTileColumns);  // by column
  for (std::size_t begin = 0; begin < out.size(); begin += kBlockResamples) {
    const std::span block = out.subspan(begin, std::min(kBlockResamples, out.size() - begin));
    fill_panel(resamples, first + begin, block.size(), panel);
    for (std::size_t i = 0; i < rows.tiles(); ++i) {
      multiply(panel.data()->data(), rows.tile(i), rows.tasks(), sums[i * internal::kTileColumns].data());
    }
    Block means{};
    std::array<bool, kBlockResamples> undefined{};
    for (std::size_t i = 0; i < rows.orderings(); ++i) {
      const TaskColumns::Ordering& ordering = rows.ordering(i);
      Block totals{};
      for (std::size_t c = 0; c < ordering.numerators; ++c) {
        const Block& numerator = sums[ordering.first_numerator + c];
        for (std::size_t r = 0; r < kBlockResamples; ++r) totals[r] += std::fabs(numerator[r]);
      }
      const Block& denominator = sums[ordering.denominator];
      for (std::size_t r = 0; r < kBlockResamples; ++r) {
        means[r] += totals[r] / denominator[r];
        undefined[r] = undefined[r] || denominator[r] == 0.0;
      }
    }
    for (std::size_t r = 0; r < block.size(); ++r) {
      if (!undefined[r]) block[r] = means[r] / static_cast<double>(rows.orderings());
    }
  }
}

Resampled resample(const TaskResamples& resamples, std::span<const TaskRows> orderings) {
  Resampled out(resamples.resamples());
  resample_range(resamples, TaskColumns(orderings), 0, out);
  return out;
}

}  // namespace margin
