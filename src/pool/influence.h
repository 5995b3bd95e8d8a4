// Influence: how much of what a model learned of late came from each source of feedback, and whether a source may add to it.
// docs/pool.md#influence-of-a-source has the rule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

class Influence {
 public:
  // With one more outcome of `weight` its source has at most `share_max` of what the model learned.
  [[nodiscard]] bool has_room(std::string_view source, ModelId model, double weight, double share_max) const;
  // Counts it if so; else false, and nothing has changed.
  bool take(std::string_view source, ModelId model, double weight, double share_max);
  void clear() { models_.clear(); }

  void save(Encoder& out) const;
  // Ids of models must be below `models`.
  void load(Decoder& in, std::size_t models);

 private:
  struct Account {
    double whole = 0.0;
    std::map<std::string, double, std::less<>> by_source;
  };
  std::map<ModelId, Account> models_;
};

}  // namespace margin::internal
