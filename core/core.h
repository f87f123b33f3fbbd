// All of core.
#pragma once

#include <retrace/core/backward_walk.h>
#include <retrace/core/derivatives.h>
#include <retrace/core/gradcheck.h>
#include <retrace/core/identity.h>
#include <retrace/core/inspect.h>
#include <retrace/core/module_outputs.h>
#include <retrace/core/names.h>
#include <retrace/core/parallel.h>
#include <retrace/core/random.h>
#include <retrace/core/recording.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/scalar.h>
#include <retrace/core/scope.h>
#include <retrace/core/subnormals.h>
#include <retrace/core/tape.h>
#include <retrace/core/tensor.h>
#include <retrace/core/threads_scope.h>
#include <retrace/core/trace.h>
#include <retrace/core/trace_file.h>
