// Small trainings, one after the other: on any number of ranks, rank 0 prints the same lines. The arguments are a
// folder for checkpoints and, optionally, the step at which each training stops.
#include <retrace/core/base/parallel.h>
#include <retrace/models/mpi/mpi_ranks.h>
#include <retrace/models/training/run.h>

#include <cstdlib>
#include <iostream>
#include <string>

using namespace retrace;

namespace {

FitOptions few_steps(std::int64_t batch) {
  return {.seed = 3,
          .steps = 6,
          .batch = batch,
          .learning_rate = 1e-2,
          .validate_every = 3,
          .validation_samples = 600,
          .test_samples = 600,
          .checkpoint_seconds = 0};
}

RunOptions training(const char* task, const char* model, std::int64_t batch) {
  RunOptions run{.task = task, .model = {.name = model}, .fit = few_steps(batch)};
  run.model.sizes.hidden = 8;
  return run;
}

std::vector<RunOptions> trainings() {
  std::vector<RunOptions> all{training("pair-matching", "lstm", 16), training("recall", "attention", 13),
                              training("parity", "transformer", 16), training("adding", "relational-rnn", 9),
                              training("object-tracking", "rmc", 8)};
  all[0].fit.accumulate = 2;
  all[0].fit.average = 0.9;
  all[1].fit.optimizer = "sgd";
  all[1].fit.clip = 0.1;
  all[2].model.form.dropout = 0.2;
  return all;
}

}  // namespace

int main(int, char** argv) {
  MpiRanks ranks;
  set_threads(1 + ranks.rank() % 2);  // may differ
  const std::int64_t stop = argv[2] == nullptr ? 1000 : std::atoi(argv[2]);
  for (RunOptions options : trainings()) {
    options.fit.ranks = &ranks;
    options.fit.checkpoint = text(argv[1], "/", options.model.name, ".safetensors");
    options.fit.resume = true;
    options.fit.on_step = [=](const FitStep& step) { return step.step >= stop ? FitAction::stop : FitAction::go_on; };
    Run run = prepare(options);
    run.train();
    if (ranks.rank() > 0) continue;
    std::cout << options.model.name << " " << weights_hash(*run.model);
    for (const double loss : run.fit.losses) std::cout << ' ' << std::hexfloat << loss;
    std::cout << ' ' << run.fit.test.loss << std::endl;
  }
}
