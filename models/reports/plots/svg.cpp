#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/document/markup.h>
#include <retrace/models/reports/plots/range.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace retrace {
namespace {

constexpr std::array<const char*, 8> colours{"#1f6fb4", "#d1495b", "#2e8b57", "#8e5ea2",
                                             "#c77b0a", "#3aa6a6", "#7a7a7a", "#222222"};
constexpr double left = 58, top = 30, bottom = 40;
constexpr std::size_t curves_with_the_legend_inside = 4;
constexpr double width_of_a_letter = 6;

/// Maps the numbers of a plot to pixels.
class Canvas {
 public:
  Canvas(const Plot& plot, int width, int height)
      : plot_(plot),
        x_(x_range(plot)),
        y_(y_range(plot)),
        width_(width),
        height_(height),
        right_(14 + width_of_legend_beside(plot)) {}

  std::string draw() const {
    std::string svg =
        text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width_, " ", height_, "\" width=\"", width_,
             "\" height=\"", height_, "\" font-family=\"sans-serif\" font-size=\"11\">\n",
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    svg += label(left, 18, "start", plot_.title, "font-size=\"13\" font-weight=\"bold\"");
    svg += axes();
    for (const Level& level : plot_.levels) svg += dashed(level);
    for (std::size_t k = 0; k < plot_.curves.size(); ++k) svg += band(k) + line(k);
    return svg + legend() + "</svg>\n";
  }

 private:
  static bool has_legend_beside(const Plot& plot) { return plot.curves.size() > curves_with_the_legend_inside; }
  static double width_of_legend_beside(const Plot& plot) {
    std::size_t longest = 0;
    for (const Curve& curve : plot.curves) longest = std::max(longest, curve.name.size());
    return has_legend_beside(plot) ? 29 + width_of_a_letter * static_cast<double>(longest) : 0;
  }
  double x(double value) const { return left + x_.part(value) * (width_ - left - right_); }
  double y(double value) const { return at_place(y_place(plot_, value)); }
  double at_place(double place) const { return height_ - bottom - y_.part(place) * (height_ - top - bottom); }
  std::string point(double px, double py) const {
    return text(in_digits(x(px), "%.1f"), ",", in_digits(y(py), "%.1f"), " ");
  }

  static std::string label(double px, double py, const char* anchor, const std::string& words, const char* style = "") {
    return text("<text x=\"", in_digits(px, "%.1f"), "\" y=\"", in_digits(py, "%.1f"), "\" text-anchor=\"", anchor,
                "\" ", style, ">", escaped(words), "</text>\n");
  }
  static std::string segment(double x1, double y1, double x2, double y2, const char* style) {
    return text("<line x1=\"", in_digits(x1, "%.1f"), "\" y1=\"", in_digits(y1, "%.1f"), "\" x2=\"",
                in_digits(x2, "%.1f"), "\" y2=\"", in_digits(y2, "%.1f"), "\" ", style, "/>\n");
  }

  std::string axes() const {
    const double end = width_ - right_, base = height_ - bottom;
    std::string svg;
    for (const double tick : plot_.log_y ? log_ticks(y_, 5) : ticks(y_, 5))
      svg += segment(left, at_place(tick), end, at_place(tick), "stroke=\"#e4e4e4\"") +
             label(left - 6, at_place(tick) + 4, "end",
                   plot_.log_y ? in_digits(std::pow(10, tick), "%.5g") : in_digits_of(tick, y_.high - y_.low));
    for (const double tick : ticks(x_, 6))
      svg += segment(x(tick), base, x(tick), base + 4, "stroke=\"#555\"") +
             label(x(tick), base + 16, "middle", in_digits_of(tick, x_.high - x_.low));
    svg += segment(left, base, end, base, "stroke=\"#555\"") + segment(left, top, left, base, "stroke=\"#555\"");
    return svg + label((left + end) / 2, height_ - 8, "middle", plot_.x_label);
  }

  std::string dashed(const Level& level) const {
    return segment(left, y(level.y), width_ - right_, y(level.y), "stroke=\"#999\" stroke-dasharray=\"4 4\"") +
           label(width_ - right_ - 4, y(level.y) - 4, "end", level.name, "fill=\"#777\"");
  }

  /// A curve of one point, which has no line.
  std::string dot(std::size_t which, std::size_t k) const {
    const Curve& curve = plot_.curves[which];
    return text("<circle cx=\"", in_digits(x(curve.x[k]), "%.1f"), "\" cy=\"", in_digits(y(curve.y[k]), "%.1f"),
                "\" r=\"3\" fill=\"", colour(which), "\"/>\n");
  }

  std::string line(std::size_t which) const {
    const Curve& curve = plot_.curves[which];
    std::vector<std::size_t> shown;
    for (std::size_t k = 0; k < curve.x.size(); ++k)
      if (std::isfinite(curve.x[k]) && std::isfinite(y_place(plot_, curve.y[k]))) shown.push_back(k);
    if (shown.size() == 1) return dot(which, shown.front());
    std::string points;
    for (const std::size_t k : shown) points += point(curve.x[k], curve.y[k]);
    return text("<polyline fill=\"none\" stroke=\"", colour(which), "\"", dashes(which),
                " stroke-width=\"1.8\" points=\"", points, "\"/>\n");
  }

  std::string band(std::size_t which) const {
    const Curve& curve = plot_.curves[which];
    if (curve.low.empty()) return "";
    std::string points;
    for (std::size_t k = 0; k < curve.x.size(); ++k) points += point(curve.x[k], curve.high[k]);
    for (std::size_t k = curve.x.size(); k-- > 0;) points += point(curve.x[k], curve.low[k]);
    return text("<polygon stroke=\"none\" fill-opacity=\"0.15\" fill=\"", colour(which), "\" points=\"", points,
                "\"/>\n");
  }

  std::string legend() const {
    std::string svg;
    const double x = has_legend_beside(plot_) ? width_ - right_ + 8 : left + 10;
    double y = top + 12;
    for (std::size_t k = 0; k < plot_.curves.size(); ++k, y += 15)
      svg +=
          segment(x, y - 4, x + 16, y - 4, text("stroke-width=\"4\" stroke=\"", colour(k), "\"", dashes(k)).c_str()) +
          label(x + 21, y, "start", plot_.curves[k].name);
    return svg;
  }

  /// A colour that is used again is told apart by its dashes.
  static std::string dashes(std::size_t which) {
    const std::size_t round = which / colours.size();
    return round == 0 ? "" : text(" stroke-dasharray=\"", 2 + 3 * round, " 2\"");
  }
  static const char* colour(std::size_t which) { return colours[which % colours.size()]; }

  const Plot& plot_;
  Range x_, y_;
  int width_, height_;
  double right_;  // the margin
};

}  // namespace

std::string to_svg(const Plot& plot, int width, int height) { return Canvas(plot, width, height).draw(); }

std::string to_svg(const std::vector<Plot>& plots, int in_a_row, int width, int height) {
  const int count = static_cast<int>(plots.size());
  std::string svg = text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width * std::min(count, in_a_row),
                         "\" height=\"", height * ((count + in_a_row - 1) / in_a_row), "\">\n");
  for (int k = 0; k < count; ++k)
    svg += text("<g transform=\"translate(", k % in_a_row * width, " ", k / in_a_row * height, ")\">\n",
                to_svg(plots[static_cast<std::size_t>(k)], width, height), "</g>\n");
  return svg + "</svg>\n";
}

}  // namespace retrace
