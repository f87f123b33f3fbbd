// Included by the file of every op.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/functions.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/ops.h>
