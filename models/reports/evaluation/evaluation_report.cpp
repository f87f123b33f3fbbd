#include <retrace/core/base/error.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace retrace {
namespace {

/// The samples of the length that most of them have; without lengths, all.
std::vector<std::int64_t> of_the_most_frequent_length(const Batch& batch) {
  std::map<std::int64_t, std::vector<std::int64_t>> of_length;
  for (std::int64_t sample = 0; sample < batch.size(); ++sample)
    of_length[batch.lengths.defined() ? batch.lengths.values<std::int64_t>()[static_cast<std::size_t>(sample)] : 0]
        .push_back(sample);
  return std::ranges::max_element(of_length, {}, [](const auto& group) { return group.second.size(); })->second;
}

/// Samples of one length, without their padding.
Batch without_padding(const Batch& batch, const std::vector<std::int64_t>& samples) {
  Tensors x, y;
  for (const std::int64_t sample : samples) {
    const Batch one = batch.sample(sample);
    x.push_back(one.x), y.push_back(one.y);
  }
  return {concat(x, 0), concat(y, 0)};
}

/// Collects the results of a test, portion by portion.
class Reader {
 public:
  Reader(const Task& task, std::int64_t failures, const std::optional<HeldOut>& held_out = {})
      : task_(task),
        categories_(task),
        failures_(task, failures, held_out ? held_out->test_places : std::vector<std::string>()) {
    if (held_out && task.kind() == TaskKind::classification) classes_.emplace(task);
  }

  void see(const Batch& batch, const Tensor& output) {
    std::vector<Prediction> samples = answered(task_, batch, output);
    for (const Prediction& sample : samples) {
      scores_.add_sample(sample.total(), sample.counted());
      categories_.add(sample);
      failures_.add(sample);
      if (classes_) classes_->add(sample);
    }
    if (!first_.x.defined()) first_ = batch, first_samples_ = std::move(samples);
  }

  /// Only for memory and attention.
  void see_segments(const Batch& segments, const Tensor& logits) {
    constexpr std::int64_t most = 16;  // every token has as many probabilities as the vocabulary has tokens
    const std::int64_t count = std::min(segments.size(), most);
    first_ = segments.part(0, count);
    first_samples_ = answered(task_, first_, slice(logits, {range(0, count)}));
  }

  void tell_categories(Estimate& metric, std::vector<CategoryTable>& categories) const {
    metric = scores_.estimate(task_.kind());
    categories = categories_.tables();
  }

  void tell(Report& report) const {
    tell_categories(report.metric, report.categories);
    if (classes_) report.classes = classes_->table();
    report.failure_count = failures_.count();
    report.failures = failures_.worst();
  }

  void tell_memory(const SequenceModel& model, std::int64_t examples, Report& report) const {
    const NoTape unrecorded;
    // The tables compare rows of one number.
    const std::vector<std::int64_t> chosen = of_the_most_frequent_length(first_);
    const Batch batch = first_.lengths.defined() ? without_padding(first_, chosen) : first_;
    const std::optional<MemoryTrace> trace = model.trace(batch.x);
    if (!trace) return;
    report.memory = memory_use(task_, batch, *trace);
    report.memory_at_one_length = first_.lengths.defined();
    std::vector<Prediction> samples;
    for (const std::int64_t place : chosen) samples.push_back(first_samples_[static_cast<std::size_t>(place)]);
    for (const std::int64_t sample : choose_examples(task_, samples, examples))
      report.examples.push_back(attention_example(task_, samples[static_cast<std::size_t>(sample)], *trace, sample));
  }

  void tell_attention(const SequenceModel& model, Report& report) const {
    const std::int64_t sample = choose_examples(task_, first_samples_, 1).front();
    std::vector<AttentionHead> heads = attention_heads(model, task_, first_.sample(sample));
    if (heads.empty()) return;
    report.attention = {in_words(task_, first_samples_[static_cast<std::size_t>(sample)]), std::move(heads)};
  }

 private:
  const Task& task_;
  Scores scores_;
  CategoryCounter categories_;
  FailureList failures_;
  std::optional<ClassCounter> classes_;
  Batch first_;
  std::vector<Prediction> first_samples_;
};

/// The metric and its categories on samples of every difficulty.
void tell_of_every_difficulty(const StoredRun& run, Report& report, Communicator* ranks) {
  const std::unique_ptr<Task> task = run.task->of_every_difficulty();
  if (task == nullptr) return;
  Reader reader(*task, 0);
  evaluate(*run.model, *task, Random(report.seed).stream("every difficulty"), report.samples,
           [&](const Batch& batch, const Tensor& output) { reader.see(batch, output); }, {}, {.ranks = ranks});
  reader.tell_categories(report.of_every_difficulty, report.of_every_difficulty_categories);
}

void test_text(const StoredRun& run, const ReportOptions& options, Reader& reader, Report& report,
               Communicator* /*each reads all of it*/) {
  if (options.samples || options.seed)
    throw ValueError("eval: a text is tested as a whole; leave --samples and --seed out");
  report.text = test_on_text(run, options.failures, options.keep_learning,
                             [&](const Batch& batch, const Tensor& output) { reader.see_segments(batch, output); });
  report.samples = report.text->tokens;
  report.as_in_training = run.input.empty() && !run.other_sizes;
  report.evaluation = report.text->evaluation;
  report.metric = report.text->metric;
  report.categories = {report.text->categories};
}

void test_samples(const StoredRun& run, const ReportOptions& options, Reader& reader, Report& report,
                  Communicator* ranks) {
  if (options.keep_learning)
    throw ValueError(text("eval: --keep-learning is for models of text, and ", run.path, " is none; leave it out"));
  const auto see = [&](const Batch& batch, const Tensor& output) { reader.see(batch, output); };
  const Task& task = *run.task;
  if (const std::optional<HeldOut> held_out = task.held_out()) {
    const std::int64_t count = held_out->test.x.dim(0);
    report.held_out = true;
    report.samples = std::min(count, options.samples.value_or(count));
    report.as_in_training = report.samples == count && run.input.empty();
    report.evaluation = evaluate(*run.model, task, held_out->test.part(0, report.samples), see, {}, {.ranks = ranks});
  } else {
    report.as_in_training = !run.other_sizes && report.seed == run.seed && report.samples == run.test_samples;
    report.evaluation =
        evaluate(*run.model, task, Random(report.seed).stream("test"), report.samples, see, {}, {.ranks = ranks});
  }
  reader.tell(report);
  tell_of_every_difficulty(run, report, ranks);
}

}  // namespace

Report make_report(const StoredRun& run, const ReportOptions& options, Communicator* ranks) {
  if (options.samples && *options.samples < 1)
    throw ValueError(text("eval: ", *options.samples, " samples were asked for; ask for 1 or more"));
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const Task& task = *run.task;
  Report report{.path = run.path,
                .task = run.task_name,
                .model = run.spec.name,
                .memory_kind = memory_name(run.spec),
                .task_options = run.task_options,
                .kind = task.kind(),
                .measure = task.metric(),
                .parameters = count_parameters(*run.model),
                .step = run.step,
                .seed = options.seed.value_or(run.seed),
                .samples = options.samples.value_or(run.test_samples),
                .input = run.input,
                .evaluation = {},
                .metric = {},
                .baselines = task.baselines()};
  Reader reader(task, options.failures, task.held_out());
  (task.text_data() != nullptr ? test_text : test_samples)(run, options, reader, report, ranks);
  if (!std::isfinite(report.evaluation.loss))
    throw FileError(
        text("eval: the model of ", run.path, " has a loss of ", report.evaluation.loss,
             " on its test samples: its weights are too large; train it again, with a lower learning rate"));
  reader.tell_memory(*run.model, options.examples, report);
  reader.tell_attention(*run.model, report);
  return report;
}

}  // namespace retrace
