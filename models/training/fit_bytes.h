// The result of a training as bytes, for another rank of the same program.
#pragma once

#include <string>

#include <retrace/models/training/fit.h>

namespace retrace {

/// Every number, bit for bit. The bytes mean something only to the same build.
std::string to_bytes(const FitResult& result);
FitResult fit_result_from_bytes(const std::string& bytes);

}  // namespace retrace
