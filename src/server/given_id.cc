#include "server/given_id.h"

#include <string>

namespace margin::server {

std::optional<Uuid> parse_given_id(std::string_view text) {
  constexpr std::string_view kPrefix = "chatcmpl-";
  constexpr std::size_t kDigits = 32;
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  std::string dashed(text);
  if (dashed.size() == kDigits) {
    for (const std::size_t at : {8U, 13U, 18U, 23U}) dashed.insert(at, "-");
  }
  auto parsed = Uuid::parse(dashed);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

}  // namespace margin::server
