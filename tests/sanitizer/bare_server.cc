// `margin serve` without the other commands: what server_under_load.sh builds with sanitizers, at half the cost of the whole binary.
// Usage: bare_server serve [--config FILE] [--listen ADDRESS] [--store FILE]
#include <unistd.h>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "server/daemon.h"

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  margin::server::DaemonOptions options;
  options.version = "bare";
  options.listening = [](const margin::server::Addresses& addresses) {
    std::printf("MARGIN listens on %s\n", addresses.main.c_str());
    std::fflush(stdout);
  };
  bool understood = argc % 2 == 0 && argc > 1 && std::string_view(arguments[1]) == "serve";
  for (std::size_t i = 2; understood && i + 1 < arguments.size(); i += 2) {
    const std::string_view flag = arguments[i];
    const char* value = arguments[i + 1];
    if (flag == "--config")
      options.config_file = value;
    else if (flag == "--listen")
      options.listen = value;
    else if (flag == "--store")
      options.store = value;
    else
      understood = false;
  }
  if (!understood) {
    std::fprintf(stderr, "bare_server: expected serve and pairs of --config, --listen, --store and a value\n");
    return 2;
  }
  const margin::Status served = margin::server::serve(options);
  if (served) return 0;
  std::fprintf(stderr, "bare_server: %s\n", served.error().message.c_str());
  return 1;
}
