// The number of operations of a model.
#pragma once

#include <cstdint>

#include <retrace/core/tape/tape.h>

namespace retrace {

/// The floating-point operations of a recorded op's forward: two for each multiply-add of its matrix products, one per
/// element of the result of any other op. Its backward takes about twice as many.
std::int64_t forward_flops(const Record& record);
/// The sum over all records of a tape.
std::int64_t forward_flops(const Tape& tape);

}  // namespace retrace
