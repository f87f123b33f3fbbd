// The gradients of a function as a function, for checks of second derivatives.
#pragma once

#include <cstdint>
#include <functional>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// The function of the leaves that gives the gradients of u.f at each, where u are random numbers of the seed. They are
/// on the tape, and dual numbers pass through them. f and the leaves have to outlive it.
std::function<Tensors()> gradients_of_weighted(const std::function<Tensors()>& f, const Tensors& leaves,
                                               std::uint64_t seed);

}  // namespace retrace
