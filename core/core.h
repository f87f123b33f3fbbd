// All of core.
#pragma once

#include <retrace/core/derivatives.h>
#include <retrace/core/gradcheck.h>
#include <retrace/core/inspect.h>
#include <retrace/core/parallel.h>
#include <retrace/core/random.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/subnormals.h>
#include <retrace/core/tape.h>
#include <retrace/core/tensor.h>
