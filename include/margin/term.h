// Term: a number with the name a person reads. Explanations of calibrators and votes are made of them.
#pragma once

#include <string>

namespace margin {

struct Term {
  std::string name;
  double value = 0.0;

  bool operator==(const Term&) const = default;
};

}  // namespace margin
