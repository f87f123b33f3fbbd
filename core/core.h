// All of core.
#pragma once

#include <retrace/core/base/parallel.h>
#include <retrace/core/base/subnormals.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/core/checks/derivatives.h>
#include <retrace/core/checks/gradcheck.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/names.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tape/scope.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/random.h>
#include <retrace/core/tensor/scalar.h>
#include <retrace/core/tensor/tensor.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/core/trace/module_outputs.h>
#include <retrace/core/trace/trace.h>
#include <retrace/core/trace/trace_file.h>
