// The watch's state in bytes: each part of it has a function visit(self, ..., visit) that names its fields once; a Writer is handed a const
// part, a Reader one to be filled.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/encoding.h"

namespace margin::watch {

// What Writer and Reader have in common: parts are visited field by field.
template <class Derived>
class Visitor {
 public:
  template <class Part>
  void operator()(Part& part) {
    if constexpr (std::is_arithmetic_v<Part>)
      derived().value(part);
    else
      Part::visit(part, derived());
  }
  template <class... Parts>
  void all(Parts&... parts) {
    (derived()(parts), ...);
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
};

class Writer : public Visitor<Writer> {
 public:
  explicit Writer(internal::Encoder& out) : out_(out) {}

  void value(double x) { out_.real(x); }
  void value(bool x) { out_.flag(x); }
  template <std::unsigned_integral T>
  void value(T x) {
    out_.integer(x);
  }
  template <class Choice>
  void choice(Choice x, Choice /*last*/) {
    out_.integer(static_cast<std::uint8_t>(x));
  }
  template <class T>
  void sized(const std::vector<T>& /*items*/, std::size_t /*size*/) {}
  template <class T>
  void counted(const std::vector<T>& items, std::size_t /*most*/) {
    out_.integer(static_cast<std::uint64_t>(items.size()));
  }

 private:
  internal::Encoder& out_;
};

class Reader : public Visitor<Reader> {
 public:
  explicit Reader(internal::Decoder& in) : in_(in) {}

  void value(double& x) {
    x = in_.real();
    if (!std::isfinite(x)) in_.fail();
  }
  void value(bool& x) { x = in_.flag(); }
  template <std::unsigned_integral T>
  void value(T& x) {
    x = in_.integer<T>();
  }
  template <class Choice>
  void choice(Choice& x, Choice last) {
    const auto number = in_.integer<std::uint8_t>();
    if (number > static_cast<std::uint8_t>(last)) in_.fail();
    x = in_.ok() ? static_cast<Choice>(number) : Choice{};
  }
  // A list whose length is known from elsewhere.
  template <class T>
  void sized(std::vector<T>& items, std::size_t size) {
    if (size > in_.remaining()) in_.fail();
    items.resize(in_.ok() ? size : 0);
  }
  template <class T>
  void counted(std::vector<T>& items, std::size_t most) {
    const std::size_t size = in_.length(1);
    if (size > most) in_.fail();
    items.resize(in_.ok() ? size : 0);
  }

 private:
  internal::Decoder& in_;
};

}  // namespace margin::watch
