// Reads bytes as a connection would, cut into packets at random. Shared by the reader's test and its fuzzer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_reader.h"
#include "margin/random.h"

namespace margin::http {

// Everything a connection that sends `bytes`, cut at random by `seed` (0: not at all), makes of them.
inline std::vector<std::string> read_all(std::string_view bytes, const Limits& limits, std::uint64_t seed) {
  RequestReader reader(limits);
  Random random(seed);
  std::vector<std::string> found;
  while (true) {
    switch (reader.next()) {
      case RequestReader::Step::kNeedMore: {
        if (bytes.empty()) {
          if (!reader.empty()) found.push_back("cut");
          return found;
        }
        const std::span<char> space = reader.space();
        const std::size_t wanted = seed == 0 ? bytes.size() : 1 + random.below(random.below(4) == 0 ? 3000 : 7);
        const std::size_t count = std::min({wanted, bytes.size(), space.size()});
        std::memcpy(space.data(), bytes.data(), count);
        reader.received(count);
        bytes.remove_prefix(count);
        break;
      }
      case RequestReader::Step::kHead: reader.accept_body(limits.body_bytes_max); break;
      case RequestReader::Step::kRequest: {
        const Request& request = reader.request();
        std::string text = std::string(request.method) + " " + std::string(request.path) + "?" + std::string(request.query) + "\n";
        for (const Header& header : request.headers) text += std::string(header.name) + "=" + std::string(header.value) + "\n";
        found.push_back(text + std::string(request.body) + (request.keep_alive ? "" : " last"));
        reader.finish();
        break;
      }
      case RequestReader::Step::kRefused:
        found.push_back(std::to_string(reader.refused().status) + " " + reader.refused().code);
        return found;
    }
  }
}

}  // namespace margin::http
