// Resampling as a matrix product: counts (resamples x tasks) times rows (tasks x features).
// Plain sums, each over the tasks in order in one chain, so neither tiling nor threads change a bit of the result.
#include "margin/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "margin/random.h"

namespace margin {
namespace {

// The register tile: four resamples by four features, four accumulators of one vector each.
constexpr std::size_t kTile = 4;
using Four = double __attribute__((vector_size(kTile * sizeof(double))));

// Resamples whose counts are widened to double together and stay in the cache while every ordering passes over them.
constexpr std::size_t kBlock = 32;
static_assert(kBlock % kTile == 0);

// Counts of a block, widened: for each group of four resamples, task by task, four neighbours. Missing resamples count 0.
class Panel {
 public:
  explicit Panel(std::size_t tasks) : tasks_(tasks), values_(kBlock * tasks) {}

  void fill(const TaskResamples& resamples, std::size_t first, std::size_t size) {
    for (std::size_t r = 0; r < kBlock; ++r) {
      double* group = values_.data() + r / kTile * kTile * tasks_ + r % kTile;
      if (r < size) {
        const std::span<const std::uint8_t> counts = resamples.counts(first + r);
        for (std::size_t t = 0; t < tasks_; ++t) group[t * kTile] = counts[t];
      } else {
        for (std::size_t t = 0; t < tasks_; ++t) group[t * kTile] = 0.0;
      }
    }
  }
  [[nodiscard]] const double* group(std::size_t g) const { return values_.data() + g * kTile * tasks_; }

 private:
  std::size_t tasks_;
  std::vector<double> values_;
};

// sums[r * stride + f] for the four resamples of a group and the features f .. f+3.
void multiply_tile(const double* counts, const TaskRows& rows, std::size_t feature, double* sums) {
  const std::size_t stride = rows.stride();
  const double* row = rows.values().data() + feature;
  Four tile[kTile] = {};
  for (std::size_t t = 0; t < rows.tasks(); ++t, row += stride, counts += kTile) {
    Four features;
    std::memcpy(&features, row, sizeof features);
    for (std::size_t r = 0; r < kTile; ++r) tile[r] += features * counts[r];
  }
  for (std::size_t r = 0; r < kTile; ++r) std::memcpy(sums + r * stride + feature, &tile[r], sizeof tile[r]);
}

// The block's sums, kBlock x stride; groups beyond `size` resamples are not computed.
void multiply(const Panel& panel, std::size_t size, const TaskRows& rows, std::vector<double>& sums) {
  for (std::size_t g = 0; g * kTile < size; ++g) {
    for (std::size_t f = 0; f < rows.stride(); f += kTile) multiply_tile(panel.group(g), rows, f, sums.data() + g * kTile * rows.stride());
  }
}

}  // namespace

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

void resample_range(const TaskResamples& resamples, std::span<const TaskRows> orderings, std::size_t first,
                    std::span<std::optional<double>> out) {
  MARGIN_CHECK(first + out.size() <= resamples.resamples(), "the range lies within the resamples");
  std::fill(out.begin(), out.end(), std::nullopt);
  if (orderings.empty()) return;
  for (const TaskRows& rows : orderings) {
    MARGIN_CHECK(rows.tasks() == resamples.tasks() && rows.numerators() == orderings[0].numerators(), "rows are of one shape");
  }
  const std::size_t numerators = orderings[0].numerators();
  const std::size_t stride = orderings[0].stride();
  Panel panel(resamples.tasks());
  std::vector<double> sums(kBlock * stride);
  for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
    const std::span block = out.subspan(begin, std::min(kBlock, out.size() - begin));
    panel.fill(resamples, first + begin, block.size());
    std::fill(block.begin(), block.end(), 0.0);
    for (const TaskRows& rows : orderings) {
      multiply(panel, block.size(), rows, sums);
      for (std::size_t r = 0; r < block.size(); ++r) {
        const double* row = sums.data() + r * stride;
        if (row[numerators] == 0.0) block[r] = std::nullopt;
        if (!block[r]) continue;
        double total = 0.0;
        for (std::size_t i = 0; i < numerators; ++i) total += std::fabs(row[i]);
        *block[r] += total / row[numerators];
      }
    }
    for (std::optional<double>& value : block) {
      if (value) *value /= static_cast<double>(orderings.size());
    }
  }
}

Resampled resample(const TaskResamples& resamples, std::span<const TaskRows> orderings) {
  Resampled out(resamples.resamples());
  resample_range(resamples, orderings, 0, out);
  return out;
}

}  // namespace margin
