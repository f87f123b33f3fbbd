#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/document/markup.h>
#include <retrace/models/reports/evaluation/attention_tables.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace retrace {
namespace {

constexpr std::int64_t columns_with_numbers = 16;  // wider tables show colours only, unless the reader asks for numbers
constexpr std::int64_t smallest_cut = 8;
constexpr int shades_of_a_sign = 8;

/// Two digits after the point, and no 0 before it: ".12", "-3.2"; "2e-4" for a number that they would make 0.
std::string short_number(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  std::string digits = in_digits(value, std::fabs(value) < 0.005 ? "%.0e" : "%.2f");
  if (const std::size_t exponent = digits.find("e-0"); exponent != digits.npos) digits.erase(exponent + 2, 1);
  if (const std::size_t zero = digits.find("0."); zero <= 1 && (zero == 0 || digits[0] == '-')) digits.erase(zero, 1);
  return digits;
}

/// "z" for what is as good as 0 beside the largest number, "p1" to "p8" for shares of that, "n1" to "n8" for shares of
/// its negative.
std::string shade_name(double value, double largest) {
  if (!std::isfinite(value) || std::fabs(value) <= largest / 50) return "z";
  const double part = std::ceil(shades_of_a_sign * std::fabs(value) / largest);
  return text(value < 0 ? "n" : "p", std::clamp(static_cast<int>(part), 1, shades_of_a_sign));
}

double largest_finite(std::span<const AttentionHead> heads, std::vector<double> AttentionHead::*numbers) {
  double largest = 0;
  for (const AttentionHead& head : heads)
    for (const double value : head.*numbers)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// The numbers by which a head is shaded and printed. Weights are measured by the largest of the layer, gradients by
/// the largest of the step, because they may vanish from step to step.
struct Scale {
  double largest_weight, largest_gradient;
  std::int64_t cut;

  /// The power of ten in which gradients are printed.
  double unit() const { return largest_gradient > 0 ? std::pow(10, std::floor(std::log10(largest_gradient))) : 1; }
};

std::string table_of(const AttentionHead& head, const std::vector<double>& numbers, const std::string& caption,
                     double largest, double unit, std::int64_t cut) {
  const std::int64_t rows = std::min(head.rows, cut), columns = std::min(head.columns, cut);
  std::string table = text("<table", columns > columns_with_numbers ? " class=dense" : "", "><caption>", caption,
                           "</caption>\n<tr><td>");
  for (std::int64_t column = 0; column < columns; ++column) table += text("<th scope=col>", column);
  for (std::int64_t row = 0; row < rows; ++row) {
    table += text("\n<tr><th scope=row>", row);
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto place = static_cast<std::size_t>(row * head.columns + column);
      const double value = numbers[place];
      table += head.masked[place] ? std::string("<td class=m>·")
                                  : text("<td class=", shade_name(value, largest), ">", short_number(value / unit));
    }
  }
  return table + "</table>\n";
}

std::string figure_of(const AttentionHead& head, const std::string& step, const Scale& scale) {
  const std::string where = text(step, "head ", head.head);
  const std::string gradient = scale.largest_gradient > 0
                                   ? text("gradient, in units of ", in_digits(scale.unit(), "%.0e"))
                                   : std::string("gradient: none flowed back");
  return text(
      "<figure tabindex=0 aria-label=\"", escaped(head.layer), ", ", where, "\"><figcaption>", where,
      "</figcaption><div class=pair>\n", table_of(head, head.weights, "weights", scale.largest_weight, 1, scale.cut),
      table_of(head, head.gradients, gradient, scale.largest_gradient, scale.unit(), scale.cut), "</div></figure>\n");
}

std::string legend_of(double largest_weight) {
  const auto swatches = [](const char* sign, bool reversed) {
    std::string cells;
    for (int k = 1; k <= shades_of_a_sign; ++k)
      cells += text("<i class=", sign, reversed ? shades_of_a_sign + 1 - k : k, "></i>");
    return cells;
  };
  return text("<p class=legend>weights from 0 <span aria-hidden=true><i class=z></i>", swatches("p", false),
              "</span> to ", short_number(largest_weight), "; gradients from the most negative <span aria-hidden=true>",
              swatches("n", true), "<i class=z></i>", swatches("p", false),
              "</span> to the largest of the step; · is masked</p>\n");
}

/// The part of the heads that a page shows: rows and columns of each matrix, and steps of each layer.
struct Part {
  std::int64_t cut, steps;
  std::int64_t numbers_of(const std::vector<AttentionHead>& heads) const {
    std::int64_t numbers = 0;
    for (const AttentionHead& head : heads)
      if (head.step < steps) numbers += std::min(head.rows, cut) * std::min(head.columns, cut);
    return numbers;
  }
};

/// The largest part with at most `max_numbers` weights; steps are left out only of matrices that are cut already.
Part part_within(std::int64_t max_numbers, const std::vector<AttentionHead>& heads) {
  Part part{smallest_cut, 1};
  for (const AttentionHead& head : heads)
    part = {std::max({part.cut, head.rows, head.columns}), std::max(part.steps, head.step + 1)};
  while (part.cut > smallest_cut && part.numbers_of(heads) > max_numbers) --part.cut;
  while (part.steps > 1 && part.numbers_of(heads) > max_numbers) --part.steps;
  return part;
}

std::string section_of_layer(std::span<const AttentionHead> heads, std::int64_t cut, std::int64_t shown_steps) {
  std::int64_t steps = 0, longest = 0;
  for (const AttentionHead& head : heads)
    steps = std::max(steps, head.step + 1), longest = std::max({longest, head.rows, head.columns});
  const double largest_weight = largest_finite(heads, &AttentionHead::weights);
  std::string section = text("<h3>", escaped(heads.front().layer), "</h3>\n", legend_of(largest_weight));
  if (longest > cut)
    section += text("<p>Cut to the first ", cut, " rows and columns; eval.json has all of up to ", longest, ".</p>\n");
  if (steps > shown_steps)
    section += text("<p>The first ", shown_steps, " of ", steps, " steps; eval.json has all.</p>\n");
  section += "<div class=heads>\n";
  for (std::size_t begin = 0, end = 0; begin < heads.size() && heads[begin].step < shown_steps; begin = end) {
    while (end < heads.size() && heads[end].step == heads[begin].step) ++end;
    const std::span<const AttentionHead> of_step = heads.subspan(begin, end - begin);
    const Scale scale{largest_weight, largest_finite(of_step, &AttentionHead::gradients), cut};
    for (const AttentionHead& head : of_step)
      section += figure_of(head, steps > 1 ? text("step ", head.step + 1, " of ", steps, ", ") : "", scale);
  }
  return section + "</div>\n";
}

constexpr const char* colours_and_sizes = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2024;--panel:#f3f3f3;--line:#8a8f98;--mark:#b3101c;
--p1:#e1e7ed;--p2:#c2cedb;--p3:#a4b6c9;--p4:#859eb7;--p5:#6686a6;--p6:#486e93;--p7:#295581;--p8:#0b3d70;
--n1:#f0e4e0;--n2:#e2cac1;--n3:#d3afa2;--n4:#c59583;--n5:#b67a62;--n6:#a76044;--n7:#994525;--n8:#8a2b06;--high:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#17191c;--ink:#e8e6e1;--panel:#24272b;--line:#80868f;--mark:#ff8f8f;
--p1:#28303a;--p2:#344050;--p3:#405064;--p4:#4d6079;--p5:#7e9cc0;--p6:#8aabd3;--p7:#93bae9;--p8:#9cc9ff;
--n1:#342a26;--n2:#48382f;--n3:#5d4538;--n4:#755343;--n5:#c08a6c;--n6:#d49876;--n7:#eaa680;--n8:#ffb38a;--high:#000}}
body{background:var(--paper);color:var(--ink);max-width:75em}
pre{background:var(--panel);padding:.6em;overflow-x:auto}.remember{color:var(--mark);font-weight:bold}
svg{background:#fff;color:#000}.wide{overflow-x:auto}
.heads{display:flex;flex-wrap:wrap;gap:.8em 1.6em}figure{margin:0;max-width:100%;overflow-x:auto}
figcaption{font-weight:bold;font-size:.85em}.pair{display:flex;gap:1em}
.heads table{font-size:10px;font-variant-numeric:tabular-nums}caption{text-align:left;font-size:12px}
.heads th,.heads td{border:0;padding:0 1px;text-align:center;white-space:nowrap}
.heads th{font-weight:normal;min-width:1.4em}.heads td{min-width:30px;height:16px}
.dense th{min-width:12px;font-size:7px}.heads .dense td{min-width:12px;height:12px;padding:0;font-size:0}
#numbers:checked~.heads .dense td{font-size:9px;min-width:30px}
.legend i{display:inline-block;width:10px;height:12px}.z{background:var(--paper)}.m{color:var(--ink)}
.dense [class^=n]{background-image:repeating-linear-gradient(45deg,transparent 0 3px,var(--paper) 3px 4px)}
)";

}  // namespace

std::string attention_style() {
  std::string style = colours_and_sizes;
  for (const char sign : {'p', 'n'})
    for (int k = 1; k <= shades_of_a_sign; ++k) style += text(".", sign, k, "{background-color:var(--", sign, k, ")}");
  return style + "td.p6,td.p7,td.p8,td.n6,td.n7,td.n8{color:var(--high)}td.p5,td.n5{color:#000}";
}

std::string attention_tables(const std::vector<AttentionHead>& heads, std::int64_t max_numbers) {
  const auto [cut, steps] = part_within(max_numbers, heads);
  std::vector<std::string> layers;
  for (const AttentionHead& head : heads)
    if (std::ranges::find(layers, head.layer) == layers.end()) layers.push_back(head.layer);
  std::string page;
  for (const std::string& layer : layers) {
    std::vector<AttentionHead> of_layer;
    std::ranges::copy_if(heads, std::back_inserter(of_layer),
                         [&](const AttentionHead& head) { return head.layer == layer; });
    page += section_of_layer(of_layer, cut, steps);
  }
  const bool has_dense = std::ranges::any_of(
      heads, [cut = cut](const AttentionHead& head) { return std::min(head.columns, cut) > columns_with_numbers; });
  const char* box =
      "<input type=checkbox id=numbers><label for=numbers>Numbers in every cell</label> (without "
      "them, negative gradients are striped)\n";
  return has_dense ? box + page : page;
}

}  // namespace retrace
