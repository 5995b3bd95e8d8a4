#include "log/left_out.h"

#include <bit>
#include <vector>

#include "base/same_text.h"
#include "log/event_log.h"

namespace margin::internal {
namespace {

bool same(double left, double right) { return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right); }

double factor_of(const RecordedResponse& response) {
  const double stated = response.confidence.value_or(0.0);
  return stated > 0.0 ? response.calibrated / stated : 1.0;
}

std::optional<double> confidence_of(std::uint32_t listed) {
  return listed == 0 ? std::nullopt : std::optional<double>((listed - 1) / LeftOut::kTenThousand);
}

// Whether the first channel may stand for all: a short record must not grow without bound.
bool stands_for_all(const std::vector<RecordedResponse>& responses) {
  return responses.empty() || responses.front().channel.size() <= kRecordBytesMax / responses.size();
}

bool can_be_listed(const std::optional<double>& confidence) {
  return !confidence || (*confidence >= 0.0 && *confidence <= 1.0 && same(*confidence_of(LeftOut::listed(confidence)), *confidence));
}

}  // namespace

LeftOut LeftOut::of(const DecisionMade& decision) {
  LeftOut left_out;
  const std::vector<RecordedResponse>& responses = decision.responses;
  if (responses.empty()) return left_out;
  const std::string_view channel = responses.front().channel;
  bool channels = responses.size() > 1 && !channel.empty() && stands_for_all(responses);
  bool factors = true;
  bool weights = true;
  bool confidences = true;
  for (const RecordedResponse& response : responses) {
    channels = channels && same_text(response.channel, channel);
    factors &= same(response.factor, factor_of(response));
    weights &= same(response.weight, response.calibrated);
    confidences &= can_be_listed(response.confidence);
  }
  left_out.bits_ = (channels ? kChannels : 0) | (factors ? kFactors : 0) | (weights ? kWeights : 0);
  left_out.confidences_ = confidences;
  return left_out;
}

bool LeftOut::put_back(std::uint64_t bits, std::span<const std::uint32_t> confidences, DecisionMade& decision) {
  std::vector<RecordedResponse>& responses = decision.responses;
  if (bits > (kChannels | kFactors | kWeights) || (!confidences.empty() && confidences.size() != responses.size())) return false;
  if ((bits & kChannels) != 0 && !stands_for_all(responses)) return false;
  if (bits == 0 && confidences.empty()) return true;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    RecordedResponse& response = responses[i];
    if ((bits & kChannels) != 0 && i > 0) response.channel = responses.front().channel;
    if (!confidences.empty()) response.confidence = confidence_of(confidences[i]);
    if ((bits & kFactors) != 0) response.factor = factor_of(response);
    if ((bits & kWeights) != 0) response.weight = response.calibrated;
  }
  return true;
}

}  // namespace margin::internal
