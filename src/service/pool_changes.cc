#include "service/pool_changes.h"

#include <string_view>

#include "base/text.h"
#include "margin/parameter.h"

namespace margin::service {
namespace {

class Comparison {
 public:
  // Whether they are the same.
  bool texts(std::string_view key, const std::string& before, const std::string& after) {
    if (before == after) return true;
    if (!text_.empty()) text_ += ", ";
    text_ += std::string(key) + ": " + before + " -> " + after;
    return false;
  }
  void numbers(std::string_view key, double before, double after) {
    texts(key, internal::json_number(before), internal::json_number(after));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string versioned(const std::string& identifier, int version) { return identifier + "@" + std::to_string(version); }

std::string value_in(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "none" : to_text(found->second);
}

struct Method {
  std::string name;
  const Parameters& parameters;
};

// Parameters of another method are its own: they are not compared.
bool same_method(Comparison& comparison, std::string_view key, const Method& before, const Method& after) {
  if (!comparison.texts(key, before.name, after.name)) return false;
  bool same = true;
  Parameters all = before.parameters;
  all.insert(after.parameters.begin(), after.parameters.end());
  for (const auto& [name, value] : all) {
    const std::string path = std::string(key) + "_parameters." + name;
    same = comparison.texts(path, value_in(before.parameters, name), value_in(after.parameters, name)) && same;
  }
  return same;
}

}  // namespace

PoolChanges pool_changes(const PoolConfigured& before, const PoolConfigured& after) {
  constexpr double kDayMs = 24.0 * 3600.0 * 1000.0;
  Comparison comparison;
  const bool calibrator =
      same_method(comparison, "calibrator", {versioned(before.calibrator, before.calibrator_version), before.calibrator_parameters},
                  {versioned(after.calibrator, after.calibrator_version), after.calibrator_parameters});
  const bool vote = same_method(comparison, "vote", {versioned(before.vote, before.vote_version), before.vote_parameters},
                                {versioned(after.vote, after.vote_version), after.vote_parameters});
  const bool trust = same_method(comparison, "trust", {versioned(before.trust, before.trust_version), before.trust_parameters},
                                 {versioned(after.trust, after.trust_version), after.trust_parameters});
  comparison.texts("remedy", before.remedy, after.remedy);
  comparison.numbers("audit_rate", before.audit_rate, after.audit_rate);
  comparison.numbers("source_share_max", before.source_share_max, after.source_share_max);
  comparison.numbers("max_error", before.max_error, after.max_error);
  comparison.numbers("pending_days", static_cast<double>(before.pending_ms_max) / kDayMs,
                     static_cast<double>(after.pending_ms_max) / kDayMs);
  comparison.numbers("watched_models", before.watched_models_max, after.watched_models_max);
  comparison.numbers("limits.models", before.models_max, after.models_max);
  comparison.numbers("limits.cells", before.cells_max, after.cells_max);
  comparison.numbers("limits.responses", before.responses_max, after.responses_max);
  comparison.numbers("limits.pending", before.decisions_max, after.decisions_max);
  comparison.numbers("limits.early", before.early_max, after.early_max);
  PoolChanges changes{.keys = comparison.take(), .lost = ""};
  if (!calibrator) {
    changes.lost = "factors and the decisions' probability";
  } else if (!vote || !trust) {
    changes.lost = "the decisions' probability";
  }
  return changes;
}

PoolConfigured with_bounds_of(PoolConfigured config, const PoolConfigured& other) {
  config.models_max = other.models_max;
  config.cells_max = other.cells_max;
  config.responses_max = other.responses_max;
  config.decisions_max = other.decisions_max;
  config.early_max = other.early_max;
  return config;
}

}  // namespace margin::service
