#include "report/html.h"

#include <fmt/format.h>

#include "base/check.h"
#include "report/text.h"

namespace margin::report {
namespace {

// Nothing is loaded and nothing runs, whatever a text may have smuggled in.
constexpr std::string_view kPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --rule: #d1d9e0; --stripe: #f6f8fa; --paper: #fff; --link: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --rule: #3d444d; --stripe: #161b22; --paper: #0d1117; --link: #79c0ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
h1, h2, p, figcaption, caption, li { overflow-wrap: anywhere; }
p { max-width: 46rem; margin: .5rem 0; }
.summary p:first-child { font-size: 1.1rem; }
a { color: var(--link); }
nav ol { padding-left: 1.4rem; columns: 18rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .25rem .5rem; }
.scroll { overflow-x: auto; margin: 1.25rem 0 .25rem; }
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .28rem .7rem; text-align: left; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
th { font-weight: 600; }
tbody th { font-weight: 400; min-width: 10rem; max-width: 24rem; overflow-wrap: anywhere; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; min-width: 4.5rem; max-width: 14rem; overflow-wrap: break-word; }
tbody tr:nth-child(even) { background: var(--stripe); }
.right { text-align: right; }
td.right { white-space: nowrap; }
.centre { text-align: center; }
.notes { color: var(--soft); font-size: .88rem; margin: .35rem 0; }
figure { margin: 1.75rem 0; }
figure svg { display: block; width: 100%; min-width: 36rem; max-width: 50rem; height: auto; }
figure svg.wide { width: auto; max-width: none; }
figcaption { max-width: 46rem; margin-top: .5rem; }
details { margin-top: .35rem; font-size: .95rem; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --rule: #bbb; --stripe: #f4f4f4; --paper: #fff; --link: #000; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; margin-top: 1.5rem; }
  figure, tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  figure svg, figure svg.wide { min-width: 0; max-width: 15.5cm; }
  details { display: none; }
}
)";

std::string_view alignment(const Column& column) {
  if (column.alignment == Alignment::kCentre) return " class=\"centre\"";
  return stands_right(column) ? " class=\"right\"" : "";
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += "<p>" + escape_markup(text) + "</p>\n";
  return out;
}

// A wide table or picture scrolls by itself, with the keyboard too.
std::string scrolling(std::string_view name, std::string_view content) {
  return fmt::format("<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n", escape_markup(name), content);
}

std::string figure_html(const Figure& figure) {
  return fmt::format(
      "<figure>\n{}<figcaption>{}</figcaption>\n<details>\n<summary>The numbers behind this picture</summary>\n{}</details>\n</figure>\n",
      scrolling(figure.data.title.empty() ? "picture" : "Picture: " + figure.data.title, figure.svg), escape_markup(figure.caption),
      to_html(figure.data));
}

std::string section_html(const Section& section, std::size_t number) {
  std::string out = fmt::format("<section aria-labelledby=\"s{0}\">\n<h2 id=\"s{0}\">{1}</h2>\n", number, escape_markup(section.heading));
  out += paragraphs(section.paragraphs);
  for (const Table& table : section.tables) out += to_html(table);
  for (const Figure& figure : section.figures) out += figure_html(figure);
  return out + "</section>\n";
}

std::string contents(const Report& report) {
  if (report.sections.size() < 2) return "";
  std::string out = "<nav aria-label=\"Contents\">\n<ol>\n";
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    out += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, escape_markup(report.sections[i].heading));
  }
  return out + "</ol>\n</nav>\n";
}

}  // namespace

std::string to_html(const Table& table) {
  std::string body = "<table>\n";
  if (!table.title.empty()) body += "<caption>" + escape_markup(table.title) + "</caption>\n";
  body += "<thead><tr>";
  for (const Column& column : table.columns) {
    body += fmt::format("<th scope=\"col\"{}>{}</th>", alignment(column), escape_markup(column.name));
  }
  body += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    MARGIN_CHECK(row.size() == table.columns.size(), "a row has one cell per column");
    body += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool names_row = i == 0 && table.columns[0].kind == Kind::kText;
      std::string text = escape_markup(cell_text(row[i], table.columns[i]));
      if (row[i].best) text.insert(0, "<strong>").append("</strong>");
      body += fmt::format("<{0}{1}>{2}</{3}>", names_row ? "th scope=\"row\"" : "td", alignment(table.columns[i]), text,
                          names_row ? "th" : "td");
    }
    body += "</tr>\n";
  }
  std::string out = scrolling(table.title.empty() ? "table" : "Table: " + table.title, body + "</tbody>\n</table>\n");
  for (const std::string& note : table.notes) out += "<p class=\"notes\">" + escape_markup(note) + "</p>\n";
  return out;
}

std::string to_html(const Report& report) {
  const std::string title = escape_markup(report.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"margin\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
      "<main id=\"content\">\n<h1>{}</h1>\n",
      kPolicy, title, kStyle, title);
  out += "<div class=\"summary\">\n" + paragraphs(report.summary) + "</div>\n" + contents(report);
  for (std::size_t i = 0; i < report.sections.size(); ++i) out += section_html(report.sections[i], i + 1);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace margin::report
