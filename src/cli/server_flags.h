// How a command reaches a running server: --server, the key, and what becomes of the answer. Used by decide, feedback and state erase.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "client/http_client.h"
#include "margin/result.h"

namespace margin::cli {

struct ServerFlags {
  std::string server = "http://127.0.0.1:8080";
  std::string key_file;      // empty: the variable MARGIN_KEY, or no key
  std::string certificates;  // empty: the system's
  int timeout_s = 30;
  bool json = false;

  void add_to(CLI::App& app);

  // Asks, and prints the answer, as `words` puts it for people or as it came (--json). Returns the exit code: 2 when the server
  // refuses what it was asked, 1 when it does not answer, does not let us in or fails.
  [[nodiscard]] int ask(client::HttpRequest request, const std::function<std::string(std::string_view json)>& words) const;
};

// All of a file, "-" the standard input; what a person types as a body.
[[nodiscard]] Result<std::string> read_body(const std::string& path);

}  // namespace margin::cli
