// The code of the READMEs that needs the models.
#include <cmath>

#include <retrace/models/data/pad.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/fit.h>
using namespace retrace;

int main() {
  Random random(3);
  Tensors sequences;  // [length, features], each of its own length
  Tensor labels = empty({200}, i64);
  for (std::int64_t k = 0; k < 200; ++k) {
    sequences.push_back(random.normal({1 + random.integer(30), 4}));
    labels.mutable_values<std::int64_t>()[static_cast<std::size_t>(k)] = sequences.back().at({-1, 0}) > 0;
  }
  register_task("my-sequences", pad(sequences), labels);  // labels [N], or [N, T] with one per row

  std::unique_ptr<Task> task = make_task("my-sequences");
  std::unique_ptr<SequenceModel> model = make_model("gru", {.input = 4, .output = 2}, random);
  FitResult result = fit(*model, *task, {.steps = 100});
  return result.test.metric > 0.8 ? 0 : 1;
}
