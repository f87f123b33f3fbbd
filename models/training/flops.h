// How much a model computes.
#pragma once

#include <cstdint>

#include <retrace/core/tape.h>

namespace retrace {

/// The floating-point operations of a recorded op's forward: two for each multiply-add of its matrix products, one for
/// each element of any other op's result. Its backward takes about twice as many.
std::int64_t forward_flops(const Record& record);
/// Of all records of a tape.
std::int64_t forward_flops(const Tape& tape);

}  // namespace retrace
