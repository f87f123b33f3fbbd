// Checks of the samples of a Dataset. All errors begin with "Dataset: " and the name of the task.
#pragma once

#include <cstdint>
#include <string_view>

#include <retrace/models/tasks/dataset.h>

namespace retrace {

/// Throws DtypeError and ShapeError for other tensors than those that Dataset names.
void check_shapes(std::string_view task, const Tensor& x, const Tensor& y);
/// Throws ShapeError, IndexError and ValueError for lengths and buckets that cannot be.
void check_lengths_of(std::string_view task, const Tensor& x, const DatasetOptions& options);
/// Throws ValueError, with the sample, for a number that is not finite.
void check_numbers(std::string_view task, const Tensor& x, const Tensor& y);
/// `classes`, or for 0 the largest label + 1. Throws ValueError for a number of classes that cannot be, IndexError for
/// a label outside of it.
std::int64_t count_classes(std::string_view task, const Tensor& labels, std::int64_t classes);

}  // namespace retrace
