#include <retrace/models/formats/digits.h>
#include <retrace/models/training/run_description.h>

namespace retrace {

std::string run_description(const Training& training) {
  FitOptions options = training.options();
  if (options.steps == no_limit) options.steps.reset();
  std::string result = training.description();
  for (const OptionRow<FitOptions>& row : fit_option_rows())
    if (const auto value = row.value(options); value && !row.rules.may_change)
      result += ", " + in_words({{row, *value}});
  result += text(", validation samples ", options.validation_samples);
  if (!options.initial_weights.empty()) result += ", from weights " + options.initial_weights;
  for (const FitGroup& group : options.groups)
    result += text(", group '", group.names, "' at ", in_all_digits(group.rate), " of the rate, weight decay ",
                   in_all_digits(group.weight_decay.value_or(options.weight_decay)));
  if (options.measures.loss) result += ", a loss of its own";
  if (options.measures.metric) result += text(", metric ", options.measures.metric_name);
  return result;
}

}  // namespace retrace
