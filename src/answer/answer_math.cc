// The form `math`: the exact value where the answer is a number, else the answer without LaTeX's spacing and markup.
// docs/voting.md#math has the grammar. Two different values never get one form; one value written in two ways nearly always does.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "answer/answer_forms.h"
#include "answer/exact_number.h"

namespace margin::internal {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Step 1: LaTeX and Unicode spellings become one. Whitespace and dollar signs become single spaces, \dfrac becomes \frac, \times becomes *,
// \text{...} its content between spaces. What is only layout goes.
class Cleaner {
 public:
  explicit Cleaner(std::string_view answer) : in_(answer) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = in_[at_];
    if (const std::size_t space = space_bytes(in_, at_); space != 0) {
      at_ += space;
      return put_space();
    }
    if (take("\xe2\x88\x92")) return put("-");                  // U+2212 minus
    if (take("\xc3\x97") || take("\xc2\xb7")) return put("*");  // U+00D7 multiplication sign, U+00B7 middle dot
    if (!text_opens_ && take("{,}")) return put(",");           // a comma without LaTeX's space behind it
    ++at_;
    if (c == '\\') return command();
    if (c == '{') return open();
    if (c == '}') return close();
    const bool tie = c == '~' && !out_.empty() && out_.back() != ' ';  // LaTeX's space between words; "~5" is "about 5"
    if (c == '$' || tie || static_cast<unsigned char>(c) < ' ') return put_space();
    out_ += c;
  }

  void command() {
    const std::string_view name = command_name(in_, at_);
    if (name.empty()) return symbol();
    at_ += name.size();
    static constexpr std::array<std::string_view, 3> kSpaces = {"quad", "qquad", "space"};
    static constexpr std::array<std::string_view, 8> kLayout = {"left", "right", "displaystyle", "textstyle", "big", "Big", "bigg", "Bigg"};
    static constexpr std::array<std::string_view, 3> kFractions = {"dfrac", "tfrac", "cfrac"};
    if (is_one_of(name, kSpaces) || is_one_of(name, kLayout)) return put_space();
    if (is_one_of(name, kFractions)) return put("\\frac");
    if (name == "times" || name == "cdot") return put("*");
    if (is_text_command(name)) {
      put_space();
      text_opens_ = at_ < in_.size() && in_[at_] == '{';
      return;
    }
    out_ += '\\';
    out_ += name;
  }

  // A backslash before something that is not a letter: an escaped sign, a line break, or one of LaTeX's many spaces.
  void symbol() {
    const char c = at_ < in_.size() ? in_[at_] : ' ';
    if (c == '{' || c == '}' || c == '\\') {
      put("\\");
      out_ += c;
      ++at_;
    } else if (c == '%') {
      out_ += c;
      ++at_;
    } else if (c == '!') {
      ++at_;  // a negative space, as in 10,\!000
    } else {
      put_space();
      if (std::string_view(",;:>()[]$").find(c) != std::string_view::npos) ++at_;
    }
  }

  void open() {
    open_.push_back(std::exchange(text_opens_, false));
    open_.back() ? put_space() : put("{");
  }

  void close() {
    const bool of_text = !open_.empty() && open_.back();
    if (!open_.empty()) open_.pop_back();
    of_text ? put_space() : put("}");
  }

  bool take(std::string_view token) {
    if (in_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void put(std::string_view text) { out_ += text; }
  void put_space() {
    if (!out_.empty() && out_.back() != ' ') out_ += ' ';
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<bool> open_;   // for each open brace, whether it belongs to \text
  bool text_opens_ = false;  // the next brace does
};

// Step 2: unwraps "\boxed{...}" (also when it stands in a sentence, if it is the only box), "**...**" and a full stop, however deep.
// Braces are matched once, so that the work stays linear.
class Unwrapper {
 public:
  explicit Unwrapper(std::string_view text) : text_(text), end_(text.size()) {
    if (text_.find("\\boxed") == std::string_view::npos && text_.find("\\fbox") == std::string_view::npos) return;
    closing_.resize(text_.size(), kNone);
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '{') {
        open.push_back(i);
      } else if (text_[i] == '}' && !open.empty()) {
        closing_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  std::string_view run() {
    do {
      trim();
    } while (unwrap());
    return window();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] std::string_view window() const { return text_.substr(begin_, end_ - begin_); }

  void trim() {
    while (begin_ < end_ && text_[begin_] == ' ') ++begin_;
    while (begin_ < end_ && text_[end_ - 1] == ' ') --end_;
  }

  bool unwrap() {
    const std::string_view inside = window();
    // "0.333..." is not 0.333.
    if (inside.size() > 1 && inside.back() == '.' && inside[inside.size() - 2] != '.') {
      --end_;
      return true;
    }
    if (inside.size() > 4 && inside.substr(0, 2) == "**" && inside.substr(inside.size() - 2) == "**") {
      begin_ += 2;
      end_ -= 2;
      return true;
    }
    return !closing_.empty() && enter_only_box();
  }

  bool enter_only_box() {
    std::size_t content = 0;
    std::size_t content_end = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      if (text_[i] != '\\') continue;
      const std::string_view name = command_name(text_, i + 1);
      std::size_t brace = i + 1 + name.size();
      if (!is_box_command(name)) {
        i = std::max(i + 1, brace - 1);
        continue;
      }
      while (brace < end_ && text_[brace] == ' ') ++brace;
      if (brace >= end_ || closing_[brace] == kNone || closing_[brace] >= end_) continue;
      if (content != 0) return false;
      content = brace + 1;
      content_end = closing_[brace];
      i = content_end;
    }
    if (content == 0) return false;
    begin_ = content;
    end_ = content_end;
    return true;
  }

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_;
  std::vector<std::uint32_t> closing_;  // by position of '{': that of its '}'; empty when there is no box
};

// Step 3: the number, if the whole text is one.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : rest_(text) {}

  // The form of the value, with its unit; none when the text is something else than a number.
  std::optional<std::string> run() {
    const bool negative = sign();
    skip_spaces();
    if (!value()) return std::nullopt;
    numerator_.negative = numerator_.negative != negative && !numerator_.digits.empty();
    skip_spaces();
    std::string_view unit;
    if (take("%")) {
      numerator_.exponent -= 2;
    } else if (spaced_ && !rest_.empty()) {
      unit = command_name(rest_, 0);
      if (unit.size() < 2) return std::nullopt;
      rest_.remove_prefix(unit.size());
    }
    if (unit == "percent") {
      numerator_.exponent -= 2;
      unit = {};
    }
    if (!rest_.empty()) return std::nullopt;
    if (numerator_.digits.empty()) numerator_ = {};
    auto form = quotient_text(numerator_, denominator_);
    if (form && !unit.empty()) (*form += ' ') += unit;
    return form;
  }

 private:
  // numerator_ / denominator_ from: fraction | mixed number | decimal / decimal | decimal * 10^n | 10^n | decimal.
  bool value() {
    if (take("\\frac")) return fraction_arguments();
    const std::string_view start = rest_;
    if (!decimal(numerator_)) return false;
    const std::string_view text = start.substr(0, start.size() - rest_.size());
    const bool whole = text.find_first_not_of("0123456789") == std::string_view::npos;
    if (text == "10" && take("^")) return power(numerator_, -1);
    skip_spaces();
    if (take("/")) {
      skip_spaces();
      return decimal(denominator_);
    }
    if (take("*")) {
      skip_spaces();
      return take("10^") && power(numerator_, 0);
    }
    if (whole && (rest_.substr(0, 5) == "\\frac" || (spaced_ && !rest_.empty() && is_digit(rest_[0])))) return mixed();
    return true;
  }

  bool mixed() {
    const Decimal whole = std::exchange(numerator_, {});
    if (take("\\frac")) {
      if (!fraction_arguments()) return false;
    } else if (!decimal(numerator_) || !take("/") || !decimal(denominator_)) {
      return false;
    }
    const auto sum = mixed_numerator(whole, numerator_, denominator_);
    if (sum) numerator_ = *sum;
    return sum.has_value();
  }

  bool fraction_arguments() { return argument(numerator_) && argument(denominator_); }

  // {decimal}, or one bare digit.
  bool argument(Decimal& into) {
    skip_spaces();
    if (!take("{")) {
      if (rest_.empty() || !is_digit(rest_[0])) return false;
      into = {.digits = std::string(1, rest_[0])};
      into.normalise();
      rest_.remove_prefix(1);
      return true;
    }
    skip_spaces();
    const bool negative = sign();
    skip_spaces();
    if (!decimal(into)) return false;
    into.negative = negative && !into.digits.empty();
    skip_spaces();
    return take("}");
  }

  // The exponent behind "10^": n or {n}. `base` is multiplied by 10^(n + extra); the 10 of a bare 10^n is in it already.
  bool power(Decimal& base, std::int64_t extra) {
    const bool braced = take("{");
    skip_spaces();
    const auto n = exponent();
    skip_spaces();
    if (!n || (braced && !take("}"))) return false;
    base.exponent += *n + extra;
    return true;
  }

  std::optional<std::int64_t> exponent() {
    constexpr std::size_t kDigitsMax = 15;
    const bool negative = sign();
    std::string_view digits = run_of_digits();
    if (digits.empty()) return std::nullopt;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.size() > kDigitsMax) return std::nullopt;
    std::int64_t n = 0;
    for (const char digit : digits) n = n * 10 + (digit - '0');
    return negative ? -n : n;
  }

  // Digits, perhaps in groups of three, perhaps with a point, perhaps with an exponent.
  bool decimal(Decimal& into) {
    into = {};
    std::string_view digits = run_of_digits();
    into.digits = digits;
    while (digits_are_a_first_group(digits) && rest_.size() >= 4 && rest_[0] == ',' && std::all_of(&rest_[1], &rest_[1] + 3, is_digit)) {
      into.digits.append(rest_.substr(1, 3));
      rest_.remove_prefix(4);
    }
    if (take(".")) {
      const std::string_view behind = run_of_digits();
      into.digits += behind;
      into.exponent = -static_cast<std::int64_t>(behind.size());
    }
    if (into.digits.empty()) return false;
    if (!rest_.empty() && (rest_[0] == 'e' || rest_[0] == 'E')) {
      const std::string_view before = rest_;
      rest_.remove_prefix(1);
      if (const auto n = exponent()) {
        into.exponent += *n;
      } else {
        rest_ = before;
      }
    }
    into.normalise();
    return true;
  }

  // "0,123" is no grouped number: where the comma is the decimal point, it is less than one.
  static bool digits_are_a_first_group(std::string_view digits) { return !digits.empty() && digits.size() <= 3 && digits[0] != '0'; }

  std::string_view run_of_digits() {
    const std::size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::string_view digits = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (size != 0) spaced_ = false;
    return digits;
  }

  // Whether there was a minus; a plus is skipped.
  bool sign() {
    if (take("-")) return true;
    take("+");
    return false;
  }

  bool take(std::string_view token) {
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    spaced_ = false;
    return true;
  }

  void skip_spaces() {
    if (take(" ")) spaced_ = true;  // Cleaner leaves no two in a row
  }

  std::string_view rest_;
  bool spaced_ = false;  // what was read last was a space
  Decimal numerator_;
  Decimal denominator_{.digits = "1"};
};

// Step 4, for what is no number: a space stays only where two words would run together, and behind a comma there is always one.
// (So that "1, 234" stays apart from 1234, and "(1,2)" meets "(1, 2)".)
std::string tidy(std::string_view text) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || static_cast<unsigned char>(c) >= 0x80; };
  std::string form;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      if (i + 1 < text.size() && !form.empty() && is_word(form.back()) && is_word(text[i + 1])) form += ' ';
      continue;
    }
    if (!form.empty() && form.back() == ',') form += ' ';
    form += text[i];
  }
  return form;
}

}  // namespace

std::string math_form(std::string_view answer) {
  const std::string cleaned = Cleaner(answer).run();
  const std::string_view text = Unwrapper(cleaned).run();
  if (auto number = NumberReader(text).run()) return *std::move(number);
  std::string form = tidy(text);
  return form.empty() ? std::string(answer) : form;
}

}  // namespace margin::internal
