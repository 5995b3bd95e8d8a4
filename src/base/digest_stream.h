// DigestStream: the digest of bytes that come in pieces.
#pragma once

#include <memory>
#include <string_view>

#include "margin/digest.h"

namespace margin::internal {

class DigestStream {
 public:
  DigestStream();
  ~DigestStream();

  void add(std::string_view bytes);
  // As digest_of() tells it of all of them.
  [[nodiscard]] Digest digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace margin::internal
