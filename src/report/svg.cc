#include "report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/check.h"
#include "report/text.h"

namespace margin::report {
namespace {

// Colours after Okabe and Ito, which people with any of the common colour blindnesses tell apart; darkened on white and lightened on
// black until each has a contrast of 3 to 1. n4 to p4 are the steps of the diverging scale, orange below and blue above the centre.
constexpr std::string_view kLight =
    "--ink:#1f2328;--soft:#59636e;--grid:#dde2e8;--stripe:#f4f6f8;--paper:#ffffff;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#00855f;--c3:#b0528c;--c4:#a86e00;--c5:#2386bf;--c6:#6b6b00;--c7:#1f2328;"
    "--n4:#b35806;--n3:#e08214;--n2:#fdb863;--n1:#fee0b6;--z0:#f3f3f3;--p1:#d1e5f0;--p2:#92c5de;--p3:#4f9fd0;--p4:#2166ac;"
    "--on-mid:#1f2328;--on-3:#1f2328;--on-4:#ffffff";
constexpr std::string_view kDark =
    "--ink:#e6edf3;--soft:#9da7b3;--grid:#2d343d;--stripe:#161b22;--paper:#0d1117;"
    "--c0:#4ba3e3;--c1:#ff8a3d;--c2:#2cc79b;--c3:#e39ac6;--c4:#d9a93a;--c5:#8fd3ff;--c6:#f0e442;--c7:#e6edf3;"
    "--n4:#f0a04b;--n3:#c27613;--n2:#80500f;--n1:#54391a;--z0:#2a2f36;--p1:#1f4257;--p2:#23618a;--p3:#4a9fd0;--p4:#8cc6ea;"
    "--on-mid:#e6edf3;--on-3:#0d1117;--on-4:#0d1117";
constexpr std::string_view kRules =
    ".picture text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:var(--ink)}"
    ".picture .soft{fill:var(--soft)}.picture .small{font-size:10.5px}.picture .strong{font-weight:600}"
    ".picture .grid{stroke:var(--grid);stroke-width:1}.picture .axis{stroke:var(--soft);stroke-width:1}"
    ".picture .guide{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:5 4}.picture .stripe{fill:var(--stripe)}"
    ".picture .curve{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}"
    ".picture .area{fill:currentColor;fill-opacity:.16;stroke:none}.picture .bar{fill:currentColor;fill-opacity:.55}"
    ".picture .whisker{stroke:currentColor;stroke-width:1.4}.picture .dot{fill:currentColor;stroke:var(--paper);stroke-width:1}"
    ".picture .d1{stroke-dasharray:7 3}.picture .d2{stroke-dasharray:2.5 2.5}.picture .d3{stroke-dasharray:9 3 2.5 3}"
    ".picture .missing{fill:none;stroke:var(--grid);stroke-dasharray:3 3}"
    ".picture .on-mid{fill:var(--on-mid)}.picture .on-3{fill:var(--on-3)}.picture .on-4{fill:var(--on-4)}";

std::string style_sheet() {
  std::string rules(kRules);
  for (int i = 0; i < 8; ++i) rules += fmt::format(".picture .c{0}{{color:var(--c{0})}}", i);
  for (const std::string_view step : {"n4", "n3", "n2", "n1", "z0", "p1", "p2", "p3", "p4"}) {
    rules += fmt::format(".picture .{0}{{fill:var(--{0})}}", step);
  }
  return fmt::format(
      "<style>.picture{{{0}}}@media (prefers-color-scheme:dark){{.picture{{{1}}}}}@media print{{.picture{{{0}}}}}{2}</style>\n", kLight,
      kDark, rules);
}

// Two decimals are finer than a pixel; shorter numbers keep the file small.
std::string number(double value) {
  MARGIN_CHECK(std::isfinite(value), "coordinates are finite");
  std::string text = fixed(value, 2);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string pairs(std::span<const Point> points) {
  std::string out;
  for (const Point& point : points) {
    if (!out.empty()) out += ' ';
    out += number(point.x) + "," + number(point.y);
  }
  return out;
}

// 8 colours and 6 shapes make 48 dots that differ; with their dashes, 192 curves.
std::size_t colour_of(std::size_t series) { return series % 8; }
std::size_t dash_of(std::size_t series) { return (series + series / 48) % 4; }
std::size_t shape_of(std::size_t series) { return (series + series / 24) % 6; }

std::string titled(std::string_view element, std::string_view attributes, std::string_view tooltip) {
  if (tooltip.empty()) return fmt::format("<{} {}/>\n", element, attributes);
  return fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element, attributes, escape_markup(tooltip));
}

}  // namespace

double text_width(std::string_view text) { return 6.9 * static_cast<double>(columns_of(text)); }

Canvas::Canvas(Size size, const Words& words) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture{4}\" role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n",
      number(size.width), number(size.height), escape_markup(words.title), escape_markup(words.description),
      size.width > kPictureWidth ? " wide" : "");
  out_ += style_sheet();
}

void Canvas::line(Point from, Point to, std::string_view style) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(from.x), number(from.y), number(to.x),
                      number(to.y), style);
}

void Canvas::box(const Box& box, std::string_view style, std::string_view tooltip) {
  out_ += titled("rect",
                 fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"", number(box.left()), number(box.top()),
                             number(box.size.width), number(box.size.height), style),
                 tooltip);
}

void Canvas::text(Point at, std::string_view text, const Label& label) {
  constexpr std::array<std::string_view, 3> kAnchors = {"start", "middle", "end"};
  const std::string shown = shortened(text, label.columns_max);
  std::string attributes =
      fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"{}\"", number(at.x), number(at.y), kAnchors[static_cast<std::size_t>(label.anchor)]);
  if (!label.style.empty()) attributes += fmt::format(" class=\"{}\"", label.style);
  if (label.upwards) attributes += fmt::format(" transform=\"rotate(-90 {} {})\"", number(at.x), number(at.y));
  const std::string whole = shown == visible(text) ? "" : "<title>" + escape_markup(text) + "</title>";
  out_ += fmt::format("<text {}>{}{}</text>\n", attributes, whole, escape_markup(shown));
}

void Canvas::dot(Point at, std::size_t series, std::string_view tooltip) {
  const auto [x, y] = at;
  const std::string style = fmt::format("class=\"dot c{}\"", colour_of(series));
  const auto polygon = [&](std::initializer_list<Point> corners) {
    out_ += titled("polygon", fmt::format("points=\"{}\" {}", pairs(std::span(corners.begin(), corners.size())), style), tooltip);
  };
  switch (shape_of(series)) {
    case 0: out_ += titled("circle", fmt::format("cx=\"{}\" cy=\"{}\" r=\"4.2\" {}", number(x), number(y), style), tooltip); break;
    case 1: polygon({{x - 3.8, y - 3.8}, {x + 3.8, y - 3.8}, {x + 3.8, y + 3.8}, {x - 3.8, y + 3.8}}); break;
    case 2: polygon({{x, y - 5}, {x + 4.8, y + 3.6}, {x - 4.8, y + 3.6}}); break;
    case 3: polygon({{x, y - 5.4}, {x + 5.4, y}, {x, y + 5.4}, {x - 5.4, y}}); break;
    case 4: polygon({{x, y + 5}, {x + 4.8, y - 3.6}, {x - 4.8, y - 3.6}}); break;
    default:  // a cross
      polygon({{x - 1.6, y - 4.8},
               {x + 1.6, y - 4.8},
               {x + 1.6, y - 1.6},
               {x + 4.8, y - 1.6},
               {x + 4.8, y + 1.6},
               {x + 1.6, y + 1.6},
               {x + 1.6, y + 4.8},
               {x - 1.6, y + 4.8},
               {x - 1.6, y + 1.6},
               {x - 4.8, y + 1.6},
               {x - 4.8, y - 1.6},
               {x - 1.6, y - 1.6}});
  }
}

void Canvas::whisker(Point from, Point to, std::size_t series) { line(from, to, fmt::format("whisker c{}", colour_of(series))); }

void Canvas::curve(std::span<const Point> points, std::size_t series) {
  out_ += fmt::format("<polyline points=\"{}\" class=\"curve c{} d{}\"/>\n", pairs(points), colour_of(series), dash_of(series));
}

void Canvas::area(std::span<const Point> outline, std::size_t series) {
  out_ += fmt::format("<polygon points=\"{}\" class=\"area c{}\"/>\n", pairs(outline), colour_of(series));
}

void Canvas::nothing(const Box& plot) { text(plot.centre(), "no data", {.anchor = Anchor::kMiddle, .style = "soft"}); }

std::string Canvas::finish() && { return std::move(out_) + "</svg>\n"; }

}  // namespace margin::report
