#include <retrace/models/tasks/dataset_checks.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::int64_t max_classes = 1'000'000;

void check_finite(std::string_view task, const char* role, const Tensor& numbers) {
  const Tensor wide = numbers.to(f64);
  const auto values = wide.values<double>();
  const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (wrong == values.end()) return;
  const std::int64_t sample = (wrong - values.begin()) / (numbers.numel() / numbers.dim(0));
  throw ValueError(text("Dataset: ", task, ": ", role, " of sample ", sample, " has ", *wrong,
                        "; remove the sample or fill in a number"));
}

}  // namespace

void check_lengths_of(std::string_view task, const Tensor& x, const DatasetOptions& options) {
  const Tensor& lengths = options.lengths;
  if (!lengths.defined()) return;
  if (lengths.dtype() != i64 || lengths.shape() != Shape{x.dim(0)})
    throw ShapeError(text("Dataset: ", task, ": lengths", lengths.shape(), " of dtype ", lengths.dtype(),
                          " must be i64, one per sample of x", x.shape()));
  const auto values = lengths.values<std::int64_t>();
  for (std::size_t sample = 0; sample < values.size(); ++sample)
    if (values[sample] < 1 || values[sample] > x.dim(1))
      throw IndexError(text("Dataset: ", task, ": sample ", sample, " has ", values[sample], " rows; x", x.shape(),
                            " has room for 1 to ", x.dim(1)));
  if (options.buckets < 1) throw ValueError(text("Dataset: ", task, ": ", options.buckets, " buckets; give 1 or more"));
}

void check_shapes(std::string_view task, const Tensor& x, const Tensor& y) {
  if (x.dtype() != f32 && x.dtype() != f64)
    throw DtypeError(text("Dataset: ", task, ": x", x.shape(), " is ", x.dtype(), "; convert it to f32 or f64"));
  if (y.dtype() == dual)
    throw DtypeError(text("Dataset: ", task, ": y", y.shape(), " is dual; labels are i64, numbers f32 or f64"));
  if (x.rank() != 3 || x.dim(1) < 1 || x.dim(2) < 1)
    throw ShapeError(text("Dataset: ", task, ": x", x.shape(), " must be [samples, time, features]; reshape it"));
  const bool has_rank = y.rank() == 1 || (y.rank() == 2 && y.dtype() != i64 && y.dim(1) > 0) ||
                        (answers_each_row(y) && y.dim(1) == x.dim(1) && y.dim(-1) > 0);
  if (!has_rank || y.dim(0) != x.dim(0))
    throw ShapeError(text("Dataset: ", task, ": y", y.shape(), " must be labels [", x.dim(0), "] (i64) or numbers [",
                          x.dim(0), ", outputs], one per sample of x", x.shape(), ", or [", x.dim(0), ", ", x.dim(1),
                          "] or [", x.dim(0), ", ", x.dim(1), ", outputs], one per row"));
}

void check_numbers(std::string_view task, const Tensor& x, const Tensor& y) {
  check_finite(task, "x", x);
  if (y.dtype() != i64) check_finite(task, "y", y);
}

std::int64_t count_classes(std::string_view task, const Tensor& labels, std::int64_t classes) {
  const auto values = labels.values<std::int64_t>();
  if (classes < 0 || classes > max_classes)
    throw ValueError(text("Dataset: ", task, ": ", classes, " classes; give 1 to ", max_classes,
                          ", or 0 for the largest label + 1"));
  const std::int64_t bound = classes > 0 ? classes : max_classes;
  for (std::size_t sample = 0; sample < values.size(); ++sample)
    if ((values[sample] < 0 && !(labels.rank() == 2 && values[sample] == no_answer)) || values[sample] >= bound)
      throw IndexError(text("Dataset: ", task, ": the label of sample ",
                            static_cast<std::int64_t>(sample) / (labels.numel() / labels.dim(0)), " is ",
                            values[sample], "; labels count from 0 to ", bound - 1));
  return classes > 0 ? classes : std::max<std::int64_t>(0, *std::ranges::max_element(values)) + 1;
}

}  // namespace retrace
