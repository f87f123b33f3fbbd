// Checks the backward of an op whose formulas only its author knows.
#pragma once

#include <functional>
#include <span>

#include <retrace/core/tape/record.h>

namespace retrace {

/// Computes y from the inputs of a record, which want no gradient.
using ForwardOfInputs = std::function<Tensor(const Tensors& inputs)>;

/// The check of a record that saved its inputs first, computes y = forward(inputs) and got dy: its backward sent dx.
/// forward runs again in f64 and on dual numbers; where it throws, and where it gives other numbers each time, what
/// cannot be computed is NaN. The direction has numbers between -1 and 1 for the elements of those inputs that want
/// gradients, in their order: with s = 7, then s = (1664525 s + 1013904223) mod 2^32, these are s / 2^31 - 1.
DirectionCheck check_direction(const Record& record, const ForwardOfInputs& forward, const Tensor& dy,
                               std::span<const Tensor> dx);

}  // namespace retrace
