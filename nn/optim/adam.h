// The loop of Adam, whose formula is in optimizers.cpp beside those of the other optimisers.
#pragma once

#include <retrace/ops/kernels/adam.h>

namespace retrace::plain {

template <class T> void adam(const AdamStep<T>& args);

}  // namespace retrace::plain
