#include "report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/text.h"

namespace margin::report {
namespace {

constexpr double kPlainMax = 1e15;

std::size_t columns_of_point(std::uint32_t point) {
  const auto in = [point](std::uint32_t low, std::uint32_t high) { return point >= low && point <= high; };
  const bool combining = in(0x300, 0x36f) || in(0x1ab0, 0x1aff) || in(0x1dc0, 0x1dff) || in(0x20d0, 0x20ff) || in(0xfe00, 0xfe0f) ||
                         in(0xfe20, 0xfe2f) || in(0x200b, 0x200d);
  if (combining) return 0;
  const bool wide = in(0x1100, 0x115f) || in(0x2e80, 0xa4cf) || in(0xac00, 0xd7a3) || in(0xf900, 0xfaff) || in(0xfe30, 0xfe6f) ||
                    in(0xff00, 0xff60) || in(0xffe0, 0xffe6) || in(0x1f300, 0x1f64f) || in(0x1f680, 0x1f6ff) || in(0x1f900, 0x1f9ff) ||
                    in(0x20000, 0x3fffd);
  return wide ? 2 : 1;
}

// Calls use(characters, columns) for each code point until it returns false.
template <class Use>
void for_each_point(std::string_view text, Use use) {
  while (!text.empty()) {
    const internal::Utf8 first = internal::first_utf8(text);
    const std::size_t length = first.length == 0 ? 1 : first.length;
    if (!use(text.substr(0, length), first.length == 0 ? 1 : columns_of_point(first.point))) return;
    text.remove_prefix(length);
  }
}

template <class Replace>
std::string replaced(std::string_view text, Replace replace) {
  std::string out;
  for (const char c : visible(text)) {
    const std::string_view other = replace(c);
    if (other.empty()) {
      out += c;
    } else {
      out += other;
    }
  }
  return out;
}

}  // namespace

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (std::fabs(value) >= kPlainMax) return fmt::format("{:.{}e}", value, digits > 3 ? 3 : digits);
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

int digits_for(std::span<const double> values, int digits_max) {
  double unit = 1.0;
  for (int digits = 0; digits < digits_max; ++digits, unit *= 10.0) {
    bool enough = true;
    for (const double value : values)
      enough = enough && std::fabs(value * unit - std::round(value * unit)) <= 1e-9 * std::fabs(value * unit);
    if (enough) return digits;
  }
  return digits_max;
}

std::string with_commas(double count) {
  std::string text = fixed(std::round(count), 0);
  if (text.find('e') != std::string::npos) return text;
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string compact(double count) {
  if (std::fabs(count) < 9999.5) return with_commas(count);
  for (const char unit : std::string_view("kMG")) {
    count /= 1000.0;
    if (std::fabs(count) < 999.5 || unit == 'G') return (std::fabs(count) < 9.95 ? fixed(count, 1) : with_commas(count)) + unit;
  }
  return "";
}

std::string visible(std::string_view text) { return internal::printable(text, std::numeric_limits<std::size_t>::max()); }

std::string escape_markup(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      case '"': return "&quot;";
      case '\'': return "&#39;";
      default: return "";
    }
  });
}

std::string escape_markdown(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      case '\\': return "\\\\";
      case '|': return "\\|";
      case '`': return "\\`";
      case '*': return "\\*";
      case '_': return "\\_";
      case '[': return "\\[";
      case ']': return "\\]";
      case '#': return "\\#";
      case '~': return "\\~";
      case '!': return "\\!";
      case '$': return "\\$";
      default: return "";
    }
  });
}

std::string escape_latex(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '\\': return "\\textbackslash{}";
      case '{': return "\\{";
      case '}': return "\\}";
      case '$': return "\\$";
      case '&': return "\\&";
      case '#': return "\\#";
      case '%': return "\\%";
      case '_': return "\\_";
      case '~': return "\\textasciitilde{}";
      case '^': return "\\textasciicircum{}";
      case '<': return "\\textless{}";
      case '>': return "\\textgreater{}";
      case '|': return "\\textbar{}";
      case '[': return "{[}";  // after a line's end, \\[ would begin an argument
      case ']': return "{]}";
      default: return "";
    }
  });
}

std::string csv_field(std::string_view text) {
  // The full-width forms of = + - @ are formulas too, in some locales.
  bool formula = !text.empty() && std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos;
  for (const std::string_view wide : {"\uff1d", "\uff0b", "\uff0d", "\uff20"}) formula = formula || text.starts_with(wide);
  std::string field = (formula ? "'" : "") + visible(text);
  if (field.find_first_of(",\"") == std::string::npos && !field.starts_with(' ') && !field.ends_with(' ')) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for_each_point(text, [&](std::string_view, std::size_t wide) {
    columns += wide;
    return true;
  });
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns) {
  std::string all = visible(text);
  if (columns_of(all) <= columns || columns == 0) return all;
  std::string out;
  std::size_t used = 1;
  for_each_point(all, [&](std::string_view point, std::size_t wide) {
    used += wide;
    if (used > columns) return false;
    out += point;
    return true;
  });
  return out + "…";
}

}  // namespace margin::report
