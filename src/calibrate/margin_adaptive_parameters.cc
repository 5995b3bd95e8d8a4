#include "calibrate/margin_adaptive_parameters.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "calibrate/tempered_odds.h"

namespace margin::internal {
namespace {

constexpr double kLinkMax = 16.0;
constexpr double kRootMax = 8.0;

ParameterSpec positive(std::string name, double fallback, double high, std::string meaning) {
  ParameterSpec spec = number_parameter(std::move(name), fallback, 0.0, high, std::move(meaning));
  spec.open_low = true;
  return spec;
}

ParameterSpec list_parameter(std::string name, std::vector<double> fallback, double low, double high, std::size_t length_max,
                             std::string meaning) {
  ParameterSpec spec = number_parameter(std::move(name), 0.0, low, high, std::move(meaning));
  spec.kind = ParameterSpec::Kind::kList;
  spec.fallback = std::move(fallback);
  spec.length_max = length_max;
  return spec;
}

// What the versions have in common, with the defaults in which they differ.
struct Defaults {
  double share, pool_alarm, resolution_tasks, recalibration_prior, recalibration_tasks;
  std::vector<double> roots = {};
};
std::vector<ParameterSpec> common(const Defaults& defaults) {
  return {
      integer_parameter("bands", 3, 1, static_cast<int>(kBandsMax), "equal-width bands of stated confidence"),
      list_parameter("clocks", {8.0, 48.0, 288.0}, 1.0, 1e6, kClocksMax, "memories in a model's observations, ascending"),
      list_parameter("links", {0.0, 1.0, 4.0}, 0.0, kLinkMax, kLinksMax, "whole powers of stated confidence, ascending from 0"),
      positive("prior_confidence", 0.9, 1.0, "stated confidence of the answers the pool starts with"),
      number_parameter("prior_outcome", 0.7, 0.0, 1.0, "accuracy of the answers the pool starts with"),
      positive("pool_prior", 4.0, 1e6, "how many answers the pool starts with"),
      positive("pool_band_prior", 5.0, 1e6, "pseudo-count that shrinks a pool band's factor to the pool's"),
      positive("model_prior", 3.0, 1e6, "pseudo-count that shrinks a model's ratio to 1"),
      positive("band_prior", 10.0, 1e6, "pseudo-count that shrinks a model's band ratio to 1"),
      positive("share", defaults.share, 1.0, "part of the experts' weight handed to all of them alike after each task"),
      number_parameter("alarm_rate", 2.0, 0.0, 1e6, "evidence of one task toward the pool's alarm, in observations"),
      positive("pool_alarm", defaults.pool_alarm, 1e9, "evidence at which a faster clock of the whole pool overwrites the slower ones"),
      positive("model_alarm", 4.0, 1e9, "the same for one model"),
      positive("resolution_prior", 6.0, 1e6, "strength of the belief in resolution_start"),
      number_parameter("resolution_start", 0.5, 0.0, 1.0,
                       "part of the difference between answers believed at first; 1 favours Brier, 0 ECE"),
      number_parameter("resolution_tasks", defaults.resolution_tasks, 1.0, 1e6, "memory of earned resolution, in observations per model"),
      positive("recalibration_prior", defaults.recalibration_prior, 1e6, "pseudo-count that shrinks an output bin's factor to 1"),
      number_parameter("recalibration_tasks", defaults.recalibration_tasks, 1.0, 1e6, "memory of recalibration, in observations per model"),
      number_parameter("steering", 0.02, 0.0, 1.0, "step of the integral control that removes what an output bin has left over"),
      integer_parameter("bins", 10, 1, 1000, "output bins of recalibration and steering"),
  };
}
std::vector<ParameterSpec> with_tempered_odds(const Defaults& defaults, std::size_t roots_max) {
  std::vector<ParameterSpec> parameters = common(defaults);
  parameters.push_back(list_parameter("roots", defaults.roots, 0.0, kRootMax, roots_max,
                                      "how often the square root of the stated odds is taken, one expert each, ascending"));
  parameters.push_back(number_parameter("odds_step", 0.014, 0.0, 0.5, "step of those experts' scales"));
  return parameters;
}

}  // namespace

const CalibratorInfo& adaptive_info() {
  static const CalibratorInfo kInfo = [] {
    CalibratorInfo info{
        .identifier = "margin_adaptive",
        .version = 3,
        .summary = "margin with several memories and shapes mixed by likelihood, alarms, earned resolution, and output steering",
        .parameters = with_tempered_odds({.share = 0.001,
                                          .pool_alarm = 4.0,
                                          .resolution_tasks = 1000.0,
                                          .recalibration_prior = 40.0,
                                          .recalibration_tasks = 400.0,
                                          .roots = {1.0}},
                                         kRootsMax - 1)};
    info.parameters.push_back(
        number_parameter("curve_memory", 1000.0, 1.0, 1e6, "memory of the expert that fits a line to the stated log-odds"));
    info.parameters.push_back(number_parameter("steering_responses", 4.0, 0.0, 1e6,
                                               "steering is divided by one more than a task's responses, and by no less than this"));
    return info;
  }();
  return kInfo;
}

const CalibratorInfo& adaptive_info_2() {
  static const CalibratorInfo kInfo{.identifier = "margin_adaptive",
                                    .version = 2,
                                    .summary = "margin_adaptive before it fitted a line to stated odds: what older logs were written with",
                                    .parameters = with_tempered_odds({.share = 0.002,
                                                                      .pool_alarm = 4.0,
                                                                      .resolution_tasks = 400.0,
                                                                      .recalibration_prior = 40.0,
                                                                      .recalibration_tasks = 200.0,
                                                                      .roots = {0.0, 1.0, 2.0}},
                                                                     kRootsMax)};
  return kInfo;
}

const CalibratorInfo& adaptive_info_1() {
  static const CalibratorInfo kInfo{
      .identifier = "margin_adaptive",
      .version = 1,
      .summary = "margin_adaptive before it tempered stated odds: what older logs were written with",
      .parameters = common(
          {.share = 0.005, .pool_alarm = 3.0, .resolution_tasks = 200.0, .recalibration_prior = 20.0, .recalibration_tasks = 100.0})};
  return kInfo;
}

Status check_adaptive(const Parameters& resolved) {
  const auto ascending = [](const std::vector<double>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
  };
  const auto refuse = [&](const char* name, const char* expected) {
    return Status(ErrorCode::kInvalidArgument,
                  std::string("margin_adaptive.") + name + ": got " + to_text(resolved.at(name)) + ", expected " + expected);
  };
  if (!ascending(list(resolved, "clocks"))) return refuse("clocks", "memories in ascending order");
  const auto whole = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
  };
  const std::vector<double>& links = list(resolved, "links");
  if (!whole(links) || links.front() != 0.0 || !ascending(links)) return refuse("links", "whole powers in ascending order, the first 0");
  if (resolved.contains("roots") && (!whole(list(resolved, "roots")) || !ascending(list(resolved, "roots")))) {
    return refuse("roots", "whole numbers in ascending order");
  }
  return {};
}

}  // namespace margin::internal
