#include <retrace/models/formats/digits.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/evaluation/prediction.h>
#include <retrace/models/study/stored_study.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/nn/layers/recurrent.h>

#include <algorithm>

namespace retrace {
namespace {

/// Targets in the dtype of the outputs, which gradient checks compute in f64.
Tensor in_default_dtype(const Tensor& target) {
  return target.dtype() == i64 || target.dtype() == default_dtype() ? target : target.to(default_dtype());
}

/// A test sample, its number, and how the model answers it.
struct TestSample {
  Batch batch;
  std::int64_t number = -1;
  double loss = 0;
  std::optional<Prediction> prediction = {};
};

/// The loss of a sample of a portion, with the outputs for it.
double loss_of(const Task& task, const Batch& samples, const Tensor& outputs, std::int64_t place) {
  return task_loss(task, slice(outputs, {range(place, place + 1)}), samples.part(place, 1)).item();
}

TestSample sample_of(const Task& task, const Batch& samples, const Tensor& outputs, std::int64_t place,
                     std::int64_t number) {
  const Tensor output = slice(outputs, {range(place, place + 1)});
  return {samples.sample(place), number, loss_of(task, samples, outputs, place),
          answered(task, samples.part(place, 1), output).front()};
}

/// The segments of a text's part for the test, each read from an empty state.
Streams segments_of(const StoredRun& run) {
  return Streams(run.task->text_data()->test(), 1, run.task->sequence_length());
}

/// Calls see(number, samples, outputs, place) for the first `count` test samples of the training.
template <class See> void for_each_test_sample(const StoredRun& run, std::int64_t count, const See& see) {
  std::int64_t number = 0;
  if (run.task->text_data() != nullptr) {
    const NoTape unrecorded;
    for (const Streams segments = segments_of(run); number < count; ++number) {
      const Batch segment = segments.segment(number);
      see(number, segment, answer(*run.model, *run.task, segment), 0);
    }
    return;
  }
  const auto see_portion = [&](const Batch& samples, const Tensor& outputs) {
    for (std::int64_t place = 0; place < samples.x.dim(0); ++place) see(number++, samples, outputs, place);
  };
  if (const std::optional<HeldOut> held_out = run.task->held_out()) {
    const std::int64_t held = std::min(count, held_out->test.x.dim(0));
    evaluate(*run.model, *run.task, held_out->test.part(0, held), see_portion);
  } else {
    evaluate(*run.model, *run.task, Random(run.seed).stream("test"), count, see_portion);
  }
}

std::int64_t count_test_samples(const StoredRun& run) {
  if (run.task->text_data() != nullptr) return segments_of(run).segments();
  const std::optional<HeldOut> held_out = run.task->held_out();
  return held_out ? held_out->test.x.dim(0) : run.test_samples;
}

TestSample find_sample(const StoredRun& run, std::int64_t wanted) {
  const std::int64_t all_samples = count_test_samples(run);
  if (wanted < 0 || wanted >= all_samples)
    throw IndexError(text("study: test sample ", wanted, " of ", run.path, " was asked for, which has ", all_samples,
                          ", from 0; choose another --example"));
  TestSample found;
  const std::int64_t end = (wanted / evaluation_portion + 1) * evaluation_portion;  // of its portion
  for_each_test_sample(run, std::min(all_samples, end),
                       [&](std::int64_t number, const Batch& samples, const Tensor& outputs, std::int64_t place) {
                         if (number == wanted) found = sample_of(*run.task, samples, outputs, place, number);
                       });
  return found;
}

TestSample find_worst(const StoredRun& run) {
  TestSample worst;
  for_each_test_sample(run, count_test_samples(run),
                       [&](std::int64_t number, const Batch& samples, const Tensor& outputs, std::int64_t place) {
                         if (worst.number < 0 || loss_of(*run.task, samples, outputs, place) > worst.loss)
                           worst = sample_of(*run.task, samples, outputs, place, number);
                       });
  return worst;
}

/// "Mary went to the garden", as `show` writes them; empty where all rows are numbers, which are shown anyway.
std::vector<std::string> rows_in_words(const Task& task, const Example& example) {
  std::vector<std::string> rows;
  bool has_words = false;
  for (std::int64_t t = 0; t < example.length(); ++t) {
    const std::string words = task.describe_row(example, t);
    has_words = has_words || (!words.empty() && words != written(example.row(t)));
    rows.push_back(words);
  }
  return has_words ? rows : std::vector<std::string>();
}

/// The probability of each right label according to the model, in the order of the answers: "0.12 0.9".
std::string probabilities_of_expected(const Prediction& prediction) {
  std::string result;
  for (std::int64_t answer = 0; answer < prediction.example.answers(); ++answer)
    if (prediction.counts(answer)) {
      const std::vector<double>& probabilities = prediction.outputs[static_cast<std::size_t>(answer)];
      const double given = probabilities[static_cast<std::size_t>(prediction.example.label(answer))];
      result += text(result.empty() ? "" : " ", in_digits(given, "%.2g"));
    }
  return result;
}

std::vector<std::string> notes_on(const Task& task, const TestSample& sample) {
  const Prediction& prediction = *sample.prediction;
  if (task.text_data() != nullptr)
    return {text("tokens, each a row of x: ", task.describe(prediction.example)),
            text("the token after each: ", prediction.expected_words(task)),
            text("p of these, to the model: ", probabilities_of_expected(prediction)),
            text("most likely, to the model: ", prediction.given_words(task)),
            text("loss: ", in_digits(sample.loss), ", the mean cross entropy; ", name_of(task.metric()), " ",
                 in_digits(metric_of(task.metric(), sample.loss)))};
  const auto likely = [&](double (Prediction::*probability)() const) {
    const bool has_labels = task.kind() == TaskKind::classification;
    return has_labels ? text(" (p = ", in_digits((prediction.*probability)()), ")") : std::string();
  };
  return {text("right answer: ", prediction.expected_words(task), likely(&Prediction::probability_of_expected)),
          text("answer of the model: ", prediction.given_words(task), likely(&Prediction::probability_of_given)),
          text("loss: ", in_digits(sample.loss)), text("question:\n", task.describe(prediction.example))};
}

}  // namespace

Computation computation_of(const std::shared_ptr<const StoredRun>& run, const StoredStudyOptions& options) {
  const DtypeScope scope(parameters(*run->model).front().tensor.dtype());
  const TestSample sample = options.worst ? find_worst(*run) : find_sample(*run, options.example);
  const Tensor x = run->model->embedded(sample.batch.x).detach().watch(), target = sample.batch.y;
  Computation loss;
  loss.title = text(run->task_name, ", ", full_name(run->spec), ", test sample ", sample.number,
                    options.worst ? " (the one with the largest loss)" : "");
  loss.notes = notes_on(*run->task, sample);
  loss.rows_of_x = rows_in_words(*run->task, sample.prediction->example);
  loss.names = run->model->names();
  loss.names.add(x, "x");
  loss.names.add(target, "target");
  loss.leaves.emplace_back("x", x);
  for (const NamedTensor& parameter : parameters(*run->model))
    loss.leaves.emplace_back(parameter.name, parameter.tensor);
  loss.result = [run, x, target] {
    return task_loss(*run->task, answer(*run->model, *run->task, x), in_default_dtype(target));
  };
  loss.dtype = default_dtype();
  const std::int64_t count = std::min(run->task->answer_length(), x.dim(1));
  loss.through_time = ThroughTime{x, [run](const Tensor& rows) { return run->model->states(rows); },
                                  [run, target, count](const StatesOverTime& states) {
                                    const Tensor answers = last_steps(states.answers, count);
                                    return task_loss(*run->task, count == 1 ? at_step(answers, 0) : answers, target);
                                  }};
  return loss;
}

}  // namespace retrace
