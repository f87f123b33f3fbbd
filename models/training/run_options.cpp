#include <retrace/models/training/run_options.h>

namespace retrace {

ModelSpec filled_spec(const RunOptions& options, const Task& task) {
  ModelSpec spec = options.model;
  spec.sizes = spec.sizes.or_else(sizes_for(task, recipe_for(options.task, options.model.name)));
  return spec;
}

std::unique_ptr<SequenceModel> make_model_for(const Task& task, const ModelSpec& spec, Random& random) {
  ModelSizes sizes = sizes_of(spec);
  sizes.input = task.input_size();
  sizes.output = task.output_size();
  sizes.time = task.sequence_length();
  sizes.input_rows = task.input_length();
  return make_model(spec.name, sizes, random);
}

std::string train_command(const RunOptions& options) {
  FitOptions fit = options.fit;
  if (fit.steps == no_limit) fit.steps.reset();
  return text("retrace train ", options.task, " --model ", options.model.name,
              as_flags(given_options(task_option_rows(), options.task_options)),
              as_flags(given_options(text_option_rows(), options.text)),
              as_flags(given_options(model_option_rows(), options.model)),
              as_flags(given_options(fit_option_rows(), fit)),
              options.dtype == f32 ? "" : text(" --dtype ", name_of(options.dtype)));
}

}  // namespace retrace
