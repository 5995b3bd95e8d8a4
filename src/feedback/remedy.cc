#include "margin/remedy.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/encoding.h"
#include "base/suggest.h"
#include "feedback/rightness.h"

namespace margin {
namespace {

constexpr std::uint32_t kSnapshotFormat = 0x4d524d31;  // "MRM1"

// Implied: beside a wrong selection 1 of 4 is right, as if 20 had been seen; of those seen, the last 100 or so count.
constexpr double kPriorRate = 0.25;
constexpr double kPriorCount = 20.0;
constexpr double kKeep = 0.99;

// A smaller propensity counts as this, so that no single audit outweighs a hundred others.
constexpr double kPropensityMin = 0.01;

bool in_unit(double x) { return x >= 0.0 && x <= 1.0; }

void check(const TaskResponse& response) {
  MARGIN_CHECK(response.model < kModelsMax, "model ids are dense and below kModelsMax");
  MARGIN_CHECK(in_unit(response.confidence), "confidence is in [0, 1]");
  MARGIN_CHECK(std::isnan(response.outcome) || in_unit(response.outcome), "an outcome is in [0, 1], or NaN where it is not known");
  MARGIN_CHECK(response.weight > 0.0 && response.weight <= 1.0, "weight is in (0, 1]");
  MARGIN_CHECK(in_unit(response.propensity), "propensity is in [0, 1]");
}

bool known(const TaskResponse& response) { return !std::isnan(response.outcome); }
bool beside(const TaskResponse& response) { return !response.selected; }
// It arrived by a chance that is known, so it speaks for those that did not.
bool is_sample(const TaskResponse& response) { return known(response) && response.propensity > 0.0; }

// nullopt: not known.
std::optional<bool> selection_right(std::span<const TaskResponse> task) {
  std::optional<bool> right;
  for (const TaskResponse& response : task) {
    if (response.selected && known(response)) right = right.value_or(false) || response.outcome >= 0.5;
  }
  return right;
}

// The inverse of the propensity, scaled so that the rarest kind of response has 1: what is seen stands for what was not.
double inverse_propensity(const TaskResponse& response, double smallest) {
  return smallest / std::max(response.propensity, kPropensityMin);
}

// Over the responses that `counts` picks and that could become known.
template <class Counts>
double smallest_propensity(std::span<const TaskResponse> task, const Counts& counts) {
  double smallest = 1.0;
  for (const TaskResponse& response : task) {
    if (counts(response) && response.propensity > 0.0) smallest = std::min(smallest, std::max(response.propensity, kPropensityMin));
  }
  return smallest;
}

}  // namespace

Remedy::Remedy(RemedyKind kind) : kind_(kind) {
  if (kind_ == RemedyKind::kEstimated) rightness_ = std::make_unique<internal::Rightness>();
}
Remedy::~Remedy() = default;
Remedy::Remedy(Remedy&&) noexcept = default;
Remedy& Remedy::operator=(Remedy&&) noexcept = default;

void Remedy::learn(std::span<const TaskResponse> task, std::vector<Lesson>& lessons) {
  lessons.assign(task.size(), Lesson{});
  for (std::size_t i = 0; i < task.size(); ++i) {
    check(task[i]);
    if (known(task[i])) lessons[i] = {task[i].outcome, task[i].weight, Lesson::Origin::kKnown};
  }
  switch (kind_) {
    case RemedyKind::kNone: return;
    case RemedyKind::kWeighted: return weigh(task, lessons);
    case RemedyKind::kImplied: return imply(task, lessons);
    case RemedyKind::kEstimated: return estimate(task, lessons);
  }
}

void Remedy::weigh(std::span<const TaskResponse> task, std::vector<Lesson>& lessons) {
  const double smallest = smallest_propensity(task, [](const TaskResponse&) { return true; });
  for (std::size_t i = 0; i < task.size(); ++i) {
    if (is_sample(task[i])) lessons[i].weight *= inverse_propensity(task[i], smallest);
  }
}

void Remedy::imply(std::span<const TaskResponse> task, std::vector<Lesson>& lessons) {
  const std::optional<bool> right = selection_right(task);
  if (!right) return;
  const double smallest = smallest_propensity(task, beside);
  for (const TaskResponse& response : task) {
    if (*right || !beside(response) || !is_sample(response)) continue;
    const double weight = response.weight * inverse_propensity(response, smallest);
    const double keep = 1.0 - weight * (1.0 - kKeep);
    right_ = right_ * keep + weight * response.outcome;
    seen_ = seen_ * keep + weight;
  }
  const Lesson supporter{.outcome = *right ? 1.0 : 0.0, .origin = Lesson::Origin::kImplied};
  const Lesson other =
      *right ? Lesson{.outcome = 0.0, .origin = Lesson::Origin::kImplied}
             : Lesson{.outcome = (right_ + kPriorCount * kPriorRate) / (seen_ + kPriorCount), .origin = Lesson::Origin::kEstimated};
  for (std::size_t i = 0; i < task.size(); ++i) {
    if (!known(task[i])) lessons[i] = task[i].selected ? supporter : other;
  }
}

void Remedy::estimate(std::span<const TaskResponse> task, std::vector<Lesson>& lessons) {
  rightness_->begin_task();
  for (const TaskResponse& response : task) rightness_->meet(response.model);
  const std::optional<bool> right = selection_right(task);
  if (!right) return;
  const auto situation = [&](const TaskResponse& response) {
    return response.selected ? internal::kSelected : *right ? internal::kBesideRight : internal::kBesideWrong;
  };
  const double smallest = smallest_propensity(task, beside);
  for (const TaskResponse& response : task) {
    if (!is_sample(response)) continue;
    const double weight = response.weight * (response.selected ? 1.0 : inverse_propensity(response, smallest));
    rightness_->learn(situation(response), response.model, response.confidence, response.outcome, weight);
  }
  for (std::size_t i = 0; i < task.size(); ++i) {
    if (known(task[i])) continue;
    lessons[i] = {.outcome = rightness_->chance(situation(task[i]), task[i].model, task[i].confidence),
                  .origin = Lesson::Origin::kEstimated};
  }
}

std::string Remedy::snapshot() const {
  internal::Encoder out;
  out.integer(kSnapshotFormat);
  out.integer(static_cast<std::uint8_t>(kind_));
  out.real(right_);
  out.real(seen_);
  if (rightness_ != nullptr) rightness_->save(out);
  return out.take();
}

Result<Remedy> make_remedy(std::string_view name) {
  const auto* const found = std::find(kRemedyNames.begin(), kRemedyNames.end(), name);
  if (found != kRemedyNames.end()) return Remedy(static_cast<RemedyKind>(found - kRemedyNames.begin()));
  const std::vector<std::string> names(kRemedyNames.begin(), kRemedyNames.end());
  return Error{ErrorCode::kNotFound, "remedy: no " + std::string(name) + internal::suggestion(name, names)};
}

Result<Remedy> restore_remedy(std::string_view bytes) {
  internal::Decoder in(bytes);
  if (in.integer<std::uint32_t>() != kSnapshotFormat) in.fail();
  const auto kind = in.integer<std::uint8_t>();
  if (kind >= kRemedyNames.size()) in.fail();
  Remedy remedy(in.ok() ? static_cast<RemedyKind>(kind) : RemedyKind::kNone);
  remedy.right_ = in.real();
  remedy.seen_ = in.real();
  if (!(remedy.right_ >= 0.0 && remedy.right_ <= remedy.seen_ && remedy.seen_ <= 1.0 / (1.0 - kKeep) + 1.0)) in.fail();
  if (remedy.rightness_ != nullptr) remedy.rightness_->load(in);
  if (Status status = in.finish("remedy"); !status) return status.error();
  return remedy;
}

}  // namespace margin
