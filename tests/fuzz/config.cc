// Any bytes as a configuration: no crash, no terminal codes in the words about it, and what is accepted can be used.
#include "config/config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const margin::Result<margin::config::Config> config =
      margin::config::parse_config({reinterpret_cast<const char*>(data), size}, "f.toml", {{"MARGIN_LOG__LEVEL", "debug"}});
  if (config) {
    for (const auto& [name, pool] : config->pools) static_cast<void>(margin::config::pool_configured(*config, pool));
    if (margin::config::changes(margin::config::default_config(), *config).empty()) std::abort();  // the variable changed something
    return 0;
  }
  const std::string& message = config.error().message;
  const auto unsafe = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; };
  if (message.empty() || std::any_of(message.begin(), message.end(), unsafe)) std::abort();
  return 0;
}
