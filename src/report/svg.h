// Canvas: the vocabulary the pictures are drawn with. Makes one SVG without script that stands alone or inside a page, follows the
// reader's light or dark preference, and carries a title and a description for those who do not see it.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace margin::report {

// What a picture says in words: its name, and what there is to see.
struct Words {
  std::string title;
  std::string description;
};

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Size {
  double width = 0.0;
  double height = 0.0;
};

struct Box {
  Point corner;  // top left
  Size size;
  [[nodiscard]] double left() const { return corner.x; }
  [[nodiscard]] double right() const { return corner.x + size.width; }
  [[nodiscard]] double top() const { return corner.y; }
  [[nodiscard]] double bottom() const { return corner.y + size.height; }
  [[nodiscard]] Point centre() const { return {corner.x + size.width / 2, corner.y + size.height / 2}; }
};

inline constexpr double kPictureWidth = 720.0;  // no picture is narrower; a wider one has the class "wide"

enum class Anchor { kStart, kMiddle, kEnd };

struct Label {
  Anchor anchor = Anchor::kStart;
  std::string_view style = "";                                        // classes: soft, small, strong
  std::size_t columns_max = std::numeric_limits<std::size_t>::max();  // longer text is cut; the whole is its tooltip
  bool upwards = false;                                               // turned to read from bottom to top
};

// How wide a text of the canvas is at most, nearly; fonts differ.
[[nodiscard]] double text_width(std::string_view text);

// Coordinates must be finite. Texts and tooltips are escaped here; `style` names classes and is ours.
class Canvas {
 public:
  Canvas(Size size, const Words& words);

  void line(Point from, Point to, std::string_view style);
  void box(const Box& box, std::string_view style, std::string_view tooltip = "");
  void text(Point at, std::string_view text, const Label& label = {});

  // The marks of series number `series`: told apart by colour, shape and dashes.
  void dot(Point at, std::size_t series, std::string_view tooltip = "");
  void whisker(Point from, Point to, std::size_t series);
  void curve(std::span<const Point> points, std::size_t series);
  void area(std::span<const Point> outline, std::size_t series);
  // What stands in a picture that has nothing to show.
  void nothing(const Box& plot);

  [[nodiscard]] std::string finish() &&;

 private:
  std::string out_;
};

}  // namespace margin::report
