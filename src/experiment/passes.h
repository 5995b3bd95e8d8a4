// Passes: a method replayed over many orderings on all cores, and what comes of it resampled by tasks. The experiments on one stream are
// made of these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/parallel.h"
#include "experiment/replay.h"
#include "experiment/score.h"
#include "experiment/stream.h"
#include "margin/bootstrap.h"
#include "margin/calibrator.h"
#include "margin/vote.h"

namespace margin::experiment {

struct PassesOptions {
  std::uint32_t orderings = 100;  // 0: file order, once
  std::uint64_t seed = 1;         // of orderings and resamples
  PassOptions pass;
  std::size_t resamples = 10'000;  // 0: no intervals
  Threads threads;

  [[nodiscard]] std::size_t passes() const { return orderings == 0 ? 1 : orderings; }
};

// A named part of the models, such as a tier.
struct ModelSubset {
  std::string name;
  std::vector<std::string> models;
};

// Resamples are drawn in pieces of this many, so that all cores have work and a piece's counts stay in the cache.
inline constexpr std::size_t kResamplesPerPiece = 500;
[[nodiscard]] inline std::size_t resample_pieces(std::size_t resamples) {
  return (resamples + kResamplesPerPiece - 1) / kResamplesPerPiece;
}

// The order of the tasks in pass number `pass`.
[[nodiscard]] std::vector<std::uint32_t> order_of_pass(const Stream& stream, const PassesOptions& options, std::size_t pass);

// What pass number `pass` learns: audits are drawn anew in every pass.
[[nodiscard]] PassOptions options_of_pass(const PassesOptions& options, std::size_t pass);

// Calls visit(number, pass) for every pass, on many threads at once: a visit writes only what belongs to its number, and may keep the pass.
// False when stopped.
bool for_each_pass(const Stream& stream, const Calibrator& method, const Vote& vote, const PassesOptions& options, Progress* progress,
                   const std::function<void(std::size_t, Pass&)>& visit);

// Resamples of a stream's tasks, one and the same for all that is compared.
class Resampling {
 public:
  Resampling(std::size_t tasks, const PassesOptions& options, Progress* progress);

  // Per resample the mean over passes of the metric; empty without resamples. Unfinished when stopped.
  [[nodiscard]] Resampled of(std::span<const TaskRows> passes) const;
  // Of a mean over tasks that does not depend on the pass.
  [[nodiscard]] Resampled of(std::span<const std::optional<double>> outcomes) const;
  // Any statistic: values[r] = statistic(how often each task occurs in resample r).
  [[nodiscard]] Resampled of(const std::function<std::optional<double>(std::span<const std::uint8_t>)>& statistic) const;

 private:
  void in_pieces(const std::function<void(std::size_t first, std::size_t count)>& work) const;

  std::optional<TaskResamples> resamples_;
  Threads threads_;
  Progress* progress_;
};

// The pieces of work that `passes` times for_each_pass and `statistics` times Resampling::of count, for Progress::total.
struct Work {
  std::size_t passes = 0;
  std::size_t statistics = 0;
};
[[nodiscard]] std::size_t pieces_of(const Work& work, const PassesOptions& options);

}  // namespace margin::experiment
