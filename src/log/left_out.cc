#include "log/left_out.h"

#include <bit>
#include <optional>
#include <utility>

#include "log/event_log.h"

namespace margin::internal {
namespace {

constexpr double kTenThousand = 10'000.0;

bool same(double left, double right) { return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right); }

double factor_of(const RecordedResponse& response) {
  const double stated = response.confidence.value_or(0.0);
  return stated > 0.0 ? response.calibrated / stated : 1.0;
}

std::optional<double> confidence_of(std::uint32_t written) {
  return written == 0 ? std::nullopt : std::optional<double>((written - 1) / kTenThousand);
}

// Whether the first channel may stand for all.
bool stands_for_all(const std::vector<RecordedResponse>& responses) {
  return responses.empty() || responses.front().channel.size() <= kRecordBytesMax / responses.size();
}

// Nothing: it is not one of those that can be written so.
std::optional<std::uint32_t> written(const std::optional<double>& confidence) {
  if (!confidence) return 0;
  if (!(*confidence >= 0.0 && *confidence <= 1.0)) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(*confidence * kTenThousand + 0.5) + 1;
  return same(*confidence_of(number), *confidence) ? std::optional(number) : std::nullopt;
}

}  // namespace

LeftOut LeftOut::of(const DecisionMade& decision) {
  LeftOut left_out;
  const std::vector<RecordedResponse>& responses = decision.responses;
  if (responses.empty()) return left_out;
  bool channels = responses.size() > 1 && !responses.front().channel.empty() && stands_for_all(responses);
  bool factors = true;
  bool weights = true;
  bool confidences = true;
  left_out.confidences_.reserve(responses.size());
  for (const RecordedResponse& response : responses) {
    channels = channels && response.channel == responses.front().channel;
    factors = factors && same(response.factor, factor_of(response));
    weights = weights && same(response.weight, response.calibrated);
    const std::optional<std::uint32_t> number = confidences ? written(response.confidence) : std::nullopt;
    confidences = number.has_value();
    if (number) left_out.confidences_.push_back(*number);
  }
  if (!confidences) left_out.confidences_.clear();
  left_out.bits_ = (channels ? kChannels : 0) | (factors ? kFactors : 0) | (weights ? kWeights : 0);
  return left_out;
}

bool LeftOut::read(std::uint64_t bits, std::vector<std::uint32_t> confidences, const DecisionMade& decision) {
  const std::vector<RecordedResponse>& responses = decision.responses;
  if (bits > (kChannels | kFactors | kWeights) || (!confidences.empty() && confidences.size() != responses.size())) return false;
  if ((bits & kChannels) != 0 && !stands_for_all(responses)) return false;
  bits_ = static_cast<std::uint32_t>(bits);
  confidences_ = std::move(confidences);
  return true;
}

void LeftOut::put_back(DecisionMade& decision) const {
  if (nothing()) return;
  std::vector<RecordedResponse>& responses = decision.responses;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    RecordedResponse& response = responses[i];
    if (channels() && i > 0) response.channel = responses.front().channel;
    if (!confidences_.empty()) response.confidence = confidence_of(confidences_[i]);
    if (factors()) response.factor = factor_of(response);
    if (weights()) response.weight = response.calibrated;
  }
}

}  // namespace margin::internal
