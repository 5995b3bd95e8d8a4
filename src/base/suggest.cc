#include "base/suggest.h"

#include <algorithm>
#include <vector>

namespace margin::internal {
namespace {

// Levenshtein distance; names are short, and longer ones are not compared.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t kNameBytesMax = 64;
  const std::string* nearest = nullptr;
  std::size_t best = name.size() / 3 + 2;
  if (name.size() <= kNameBytesMax) {
    for (const std::string& candidate : known) {
      const std::size_t d = distance(name, candidate);
      if (d < best) {
        best = d;
        nearest = &candidate;
      }
    }
  }
  if (nearest != nullptr) return " (did you mean " + *nearest + "?)";
  std::string words = " (known:";
  for (const std::string& candidate : known) words += (&candidate == known.data() ? " " : ", ") + candidate;
  return known.empty() ? "" : words + ")";
}

}  // namespace margin::internal
