#include "log/left_out.h"

#include <bit>
#include <vector>

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

// Whether the first channel may stand for all: a short record must not grow without bound.
bool stands_for_all(const std::vector<RecordedResponse>& responses) {
  return responses.empty() || responses.front().channel.size() <= kRecordBytesMax / responses.size();
}

// What is stored for it may mean another one.
std::uint32_t nearest(double confidence) { return (static_cast<std::uint32_t>(confidence * (2.0 * kTenThousand)) + 1) / 2 + 1; }

bool can_be_listed(const std::optional<double>& confidence) {
  return !confidence || (*confidence >= 0.0 && *confidence <= 1.0 && same(*confidence_of(nearest(*confidence)), *confidence));
}

}  // namespace

std::uint32_t LeftOut::listed(const std::optional<double>& confidence) { return confidence ? nearest(*confidence) : 0; }

LeftOut LeftOut::of(const DecisionMade& decision) {
  LeftOut left_out;
  const std::vector<RecordedResponse>& responses = decision.responses;
  if (responses.empty()) return left_out;
  bool channels = responses.size() > 1 && !responses.front().channel.empty() && stands_for_all(responses);
  bool factors = true;
  bool weights = true;
  bool confidences = true;
  for (const RecordedResponse& response : responses) {
    channels = channels && response.channel == responses.front().channel;
    factors = factors && same(response.factor, factor_of(response));
    weights = weights && same(response.weight, response.calibrated);
    confidences = confidences && can_be_listed(response.confidence);
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
