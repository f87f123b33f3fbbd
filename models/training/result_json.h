// The members that the JSON of every training shares.
#pragma once

#include <string_view>

#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/fit.h>

namespace retrace {

/// Options, result, and the baselines of its test metric.
JsonObject result_to_json(const FitOptions& options, const FitResult& result, std::string_view metric,
                          const Baselines& baselines);

}  // namespace retrace
