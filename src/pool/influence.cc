#include "pool/influence.h"

#include <algorithm>
#include <cmath>

namespace margin::internal {
namespace {

// What a model learned is remembered for about so many outcomes.
constexpr double kMemory = 100.0;
constexpr double kKeep = 1.0 - 1.0 / kMemory;
// So much a source may always have: the first ones to speak would otherwise wait for each other.
constexpr double kFree = 10.0;
// A source with less is forgotten, and no more than this many are counted; what a further one says is not learned.
constexpr double kForgotten = 0.01;
constexpr std::size_t kSourcesMax = 256;

}  // namespace

bool Influence::has_room(std::string_view source, ModelId model, double weight, double share_max) const {
  const auto found = models_.find(model);
  if (found == models_.end()) return weight <= kFree;
  const Account& account = found->second;
  const auto own = account.by_source.find(source);
  if (own == account.by_source.end() && account.by_source.size() >= kSourcesMax) return false;
  const double sum = (own == account.by_source.end() ? 0.0 : own->second) + weight;
  return sum <= std::max(kFree, share_max * (account.whole + weight));
}

bool Influence::take(std::string_view source, ModelId model, double weight, double share_max) {
  if (!has_room(source, model, weight, share_max)) return false;
  Account& account = models_[model];
  const double keep = 1.0 - weight * (1.0 - kKeep);
  account.whole = account.whole * keep + weight;
  for (auto& [name, part] : account.by_source) part *= keep;
  account.by_source[std::string(source)] += weight;
  std::erase_if(account.by_source, [](const auto& entry) { return entry.second < kForgotten; });
  return true;
}

void Influence::save(Encoder& out) const {
  out.integer(static_cast<std::uint64_t>(models_.size()));
  for (const auto& [model, account] : models_) {
    out.integer(model);
    out.real(account.whole);
    out.integer(static_cast<std::uint64_t>(account.by_source.size()));
    for (const auto& [source, part] : account.by_source) {
      out.text(source);
      out.real(part);
    }
  }
}

void Influence::load(Decoder& in, std::size_t models) {
  const auto amount = [&] {
    const double x = in.real();
    if (!(x >= 0.0 && x <= 2.0 * kMemory)) in.fail();
    return x;
  };
  const std::size_t count = in.length(4 + 8 + 8);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto model = in.integer<ModelId>();
    Account account{.whole = amount()};
    const std::size_t sources = in.length(8 + 8);
    for (std::size_t s = 0; s < sources && in.ok(); ++s) {
      std::string source = in.text();
      account.by_source.emplace(std::move(source), amount());
    }
    if (model >= models || account.by_source.size() != sources || sources > kSourcesMax) in.fail();
    if (!models_.emplace(model, std::move(account)).second) in.fail();
  }
}

}  // namespace margin::internal
