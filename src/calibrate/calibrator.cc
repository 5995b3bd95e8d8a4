// What all calibrators share: checks, lifecycle, batches, snapshots.
#include "margin/calibrator.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/check.h"
#include "base/encoding.h"
#include "base/parameter_encoding.h"

namespace margin {
namespace {

constexpr std::uint32_t kSnapshotFormat = 0x4d434c31;  // "MCL1"

std::string show(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

Error out_of_range(std::string_view field, double value, std::string_view range) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + show(value) + ", expected a number in " + std::string(range)};
}

Error at_row(std::size_t row, const Error& error) { return {error.code, "row " + std::to_string(row) + ": " + error.message}; }

Error not_present(ModelId model) {
  return {ErrorCode::kNotFound, "model: " + std::to_string(model) + " is not present in this calibrator"};
}

}  // namespace

void Calibrator::stop(ModelId model, double confidence) const {
  MARGIN_CHECK(known(model), "a model joins before it is calibrated");
  MARGIN_CHECK(is_probability(confidence), "confidence is in [0, 1]");
  std::abort();
}

Error Calibrator::refusal(const Observation& observation) const {
  return present(observation.model) ? illegal_value(observation) : not_present(observation.model);
}

Error Calibrator::illegal_value(const Observation& observation) {
  if (!is_probability(observation.confidence)) return out_of_range("confidence", observation.confidence, "[0, 1]");
  if (!is_probability(observation.outcome)) return out_of_range("outcome", observation.outcome, "[0, 1]");
  return out_of_range("weight", observation.weight, "(0, 1]");
}

Status Calibrator::check_rows(std::span<const Observation> observations) const {
  for (std::size_t r = 0; r < observations.size(); ++r) {
    if (!present(observations[r].model) || !is_legal(observations[r])) return at_row(r, refusal(observations[r]));
  }
  return {};
}

void Calibrator::admit(ModelId model, const Calibrator* donor, ModelId donor_model) {
  MARGIN_CHECK(model < kModelsMax, "model ids are dense and below kModelsMax");
  if (present(model)) return;
  if (known(model)) {
    presence_[model] = Presence::kPresent;
    on_presence_changed(model);
    return;
  }
  if (model >= presence_.size()) {
    presence_.resize(model + std::size_t{1}, Presence::kUnknown);
    make_room(presence_.size());
  }
  on_join(model, donor, donor_model);
  presence_[model] = Presence::kPresent;
  on_presence_changed(model);
}

void Calibrator::join(ModelId model) { admit(model, nullptr, 0); }

void Calibrator::join_from(ModelId model, const Calibrator& donor, ModelId donor_model) {
  const bool usable = donor.info_ == info_ && donor.known(donor_model) && donor.parameters_ == parameters_;
  admit(model, usable ? &donor : nullptr, donor_model);
}

void Calibrator::leave(ModelId model) {
  if (!present(model)) return;
  presence_[model] = Presence::kAway;
  on_presence_changed(model);
}

Status Calibrator::calibrate_batch(std::span<const ModelId> models, std::span<const double> confidences,
                                   std::span<double> calibrated) const {
  if (models.size() != confidences.size() || models.size() != calibrated.size()) {
    return {ErrorCode::kInvalidArgument, "calibrate_batch: got " + std::to_string(models.size()) + " models, " +
                                             std::to_string(confidences.size()) + " confidences and room for " +
                                             std::to_string(calibrated.size()) + " results, expected one length"};
  }
  for (std::size_t r = 0; r < models.size(); ++r) {
    if (!known(models[r])) return at_row(r, not_present(models[r]));
    if (!is_probability(confidences[r])) return at_row(r, out_of_range("confidence", confidences[r], "[0, 1]"));
  }
  for (std::size_t r = 0; r < models.size(); ++r) calibrated[r] = predict(models[r], confidences[r]);
  return {};
}

Status Calibrator::observe_batch(std::span<const Observation> observations) {
  if (Status status = check_rows(observations); !status) return status;
  for (const Observation& observation : observations) learn(observation);
  return {};
}

Status Calibrator::prequential_batch(std::span<const Observation> observations, std::span<double> calibrated) {
  if (observations.size() != calibrated.size()) {
    return {ErrorCode::kInvalidArgument, "prequential_batch: got " + std::to_string(observations.size()) + " observations and room for " +
                                             std::to_string(calibrated.size()) + " results, expected one length"};
  }
  if (Status status = check_rows(observations); !status) return status;
  predict_then_learn(observations, calibrated);
  return {};
}

void Calibrator::predict_then_learn(std::span<const Observation> observations, std::span<double> calibrated) {
  for (std::size_t r = 0; r < observations.size(); ++r) {
    calibrated[r] = predict(observations[r].model, observations[r].confidence);
    learn(observations[r]);
  }
}

Status Calibrator::discount(double trust) {
  if (!(trust > 0.0 && trust <= 1.0)) return out_of_range("trust", trust, "(0, 1]");
  if (trust < 1.0 && !on_discount(trust)) {
    return {ErrorCode::kUnsupported, info_->identifier + " keeps no counts of evidence that could be discounted"};
  }
  return {};
}

Status Calibrator::merge(const Calibrator& other, std::span<const ModelId> ids) {
  if (other.info_ != info_ || other.parameters_ != parameters_) {
    return {ErrorCode::kInvalidArgument, "merge: expected " + info_->identifier + " with the same version and parameters on both sides"};
  }
  if (!merges()) return {ErrorCode::kUnsupported, info_->identifier + " has a state with one history, which cannot be merged with another"};
  std::vector<ModelId> taken;
  for (ModelId model = 0; model < other.models(); ++model) {
    if (!other.known(model)) continue;
    if (model >= ids.size() || ids[model] >= kModelsMax)
      return {ErrorCode::kInvalidArgument, "merge: expected an id for every known model"};
    taken.push_back(ids[model]);
  }
  std::sort(taken.begin(), taken.end());
  if (std::adjacent_find(taken.begin(), taken.end()) != taken.end()) {
    return {ErrorCode::kInvalidArgument, "merge: expected different ids for different models"};
  }
  std::vector<Merged> merged;
  for (ModelId model = 0; model < other.models(); ++model) {
    if (!other.known(model)) continue;
    const ModelId own = ids[model];
    merged.push_back({.own = own,
                      .theirs = model,
                      .copy = !known(own),
                      .away = known(own) && !present(own),
                      .present = present(own) || other.present(model)});
    join(own);
  }
  on_merge(other, merged);
  for (const Merged& model : merged) {
    if (!model.present) leave(model.own);
  }
  return {};
}

Status Calibrator::fit(std::span<const Observation> rows) {
  if (!info_->design_time) return {ErrorCode::kUnsupported, info_->identifier + " learns online and has no fit"};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].model >= kModelsMax) {
      return at_row(
          r, {ErrorCode::kLimit, "model: got " + std::to_string(rows[r].model) + ", expected an id below " + std::to_string(kModelsMax)});
    }
    if (!is_legal(rows[r])) return at_row(r, illegal_value(rows[r]));
  }
  for (const Observation& row : rows) join(row.model);
  fit_rows(rows);
  return {};
}

Explanation Calibrator::explain(ModelId model, double confidence) const {
  Explanation explanation;
  explanation.confidence = confidence;
  explanation.calibrated = calibrate(model, confidence);
  explanation.factor = confidence > 0.0 ? std::min(explanation.calibrated / confidence, std::numeric_limits<double>::max()) : 1.0;
  explanation.bands = bands();
  explanation.band = band_of(confidence, explanation.bands);
  describe(model, explanation);
  return explanation;
}

std::string Calibrator::snapshot() const {
  internal::Encoder out;
  out.integer(kSnapshotFormat);
  out.text(info_->identifier);
  out.integer(static_cast<std::int32_t>(info_->version));
  internal::encode(parameters_, out);
  out.integer(static_cast<std::uint64_t>(presence_.size()));
  for (const Presence presence : presence_) out.integer(static_cast<std::uint8_t>(presence));
  save(out);
  return out.take();
}

std::unique_ptr<Calibrator> Calibrator::clone() const {
  auto copy = restore_calibrator(snapshot());
  MARGIN_CHECK(copy.ok(), "a calibrator restores from its own snapshot");
  return std::move(copy).value();
}

Result<std::unique_ptr<Calibrator>> restore_calibrator(std::string_view bytes) {
  internal::Decoder in(bytes);
  const auto corrupt = Error{ErrorCode::kCorrupt, "calibrator: the bytes are truncated or not a snapshot of a calibrator"};
  if (in.integer<std::uint32_t>() != kSnapshotFormat) return corrupt;
  const std::string identifier = in.text();
  const auto version = in.integer<std::int32_t>();
  const Parameters parameters = internal::decode_parameters(in);
  if (!in.ok()) return corrupt;
  auto made = make_calibrator(identifier, version, parameters);
  if (!made) return made.error();
  Calibrator& calibrator = **made;
  calibrator.presence_.resize(in.length(1));
  if (calibrator.presence_.size() > kModelsMax) return corrupt;
  for (auto& presence : calibrator.presence_) {
    const auto value = in.integer<std::uint8_t>();
    if (value > 2) in.fail();
    presence = static_cast<Calibrator::Presence>(value);
  }
  if (!in.ok()) return corrupt;
  if (calibrator.presence_.size() * calibrator.saved_bytes_per_model() > in.remaining()) return corrupt;
  calibrator.make_room(calibrator.presence_.size());
  calibrator.load(in);
  if (Status status = in.finish("calibrator " + identifier); !status) return status.error();
  return made;
}

}  // namespace margin
