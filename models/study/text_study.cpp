#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/text_report.h>
#include <retrace/models/study/text_study.h>
#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

Tensor segment_loss(const Tensor& logits, const Tensor& next) {
  return cross_entropy(logits, next, {.ignore_index = no_token});
}

/// The segment with the largest loss.
std::int64_t find_worst(const LanguageModel& network, const Streams& streams) {
  const NoTape unrecorded;
  std::int64_t worst = 0;
  double largest = -1;
  for (std::int64_t number = 0; number < streams.segments(); ++number) {
    const Streams::Segment segment = streams.segment(number);
    const double loss = segment_loss(network(segment.in).logits, segment.next).item();
    if (loss > largest) largest = loss, worst = number;
  }
  return worst;
}

std::string label_of(const Vocabulary& vocabulary, std::int64_t id) {
  const std::string& token = vocabulary.tokens()[static_cast<std::size_t>(id)];
  return token == "\n" ? "\\n" : token == " " ? "' '" : token;
}

std::vector<std::string> labels_of(const Vocabulary& vocabulary, const Tensor& ids) {
  std::vector<std::string> labels;
  for (const std::int64_t id : ids.values<std::int64_t>()) labels.push_back(label_of(vocabulary, id));
  return labels;
}

std::string in_one_line(const std::vector<std::string>& labels) {
  std::string line;
  for (const std::string& label : labels) line += text(line.empty() ? "" : " ", label);
  return line;
}

std::vector<std::string> notes_on(const TextModel& model, const Streams::Segment& segment) {
  const NoTape unrecorded;
  const Tensor logits = model.network(segment.in).logits;
  const double loss = segment_loss(logits, segment.next).item();
  const TokenKind kind = model.vocabulary.kind();
  return {text("tokens, each a row of x: ", in_one_line(labels_of(model.vocabulary, segment.in))),
          text("the token after each: ", in_one_line(labels_of(model.vocabulary, segment.next))),
          text("most likely, to the model: ", in_one_line(labels_of(model.vocabulary, argmax(logits)))),
          text("loss: ", in_digits(loss), ", the mean cross entropy; ", metric_name(kind), " ",
               in_digits(metric_of(kind, loss)))};
}

std::int64_t chosen_segment(const LanguageModel& network, const Streams& streams, const std::string& file,
                            const StoredStudyOptions& options) {
  if (options.worst) return find_worst(network, streams);
  if (options.example < 0 || options.example >= streams.segments())
    throw IndexError(text("study: segment ", options.example, " of the test text of ", file,
                          " was asked for, which has ", streams.segments(), ", from 0; choose another --example"));
  return options.example;
}

}  // namespace

Computation computation_of_text(const std::string& file, const StoredStudyOptions& options) {
  const auto model = std::make_shared<const TextModel>(load_text_model(file));
  const LanguageModel& network = model->network;
  const DtypeScope scope(parameters(network).front().tensor.dtype());
  const TestText test =
      test_text(*model, file, {.command = "study", .remedy = "train on it again, or restore the file"});
  const Streams streams(test.ids, 1, model->options.length);
  const std::int64_t number = chosen_segment(network, streams, file, options);
  const Streams::Segment segment = streams.segment(number);
  const Tensor x = network.embed(segment.in).detach().watch(), next = segment.next;
  Computation loss;
  loss.title = text("text, ", model->options.model, ", segment ", number, " of the test",
                    options.worst ? " (the one with the largest loss)" : "");
  loss.notes = notes_on(*model, segment);
  loss.rows_of_x = labels_of(model->vocabulary, segment.in);
  loss.names = network.names();
  loss.names.add(x, "x");
  loss.names.add(next, "next");
  loss.leaves.emplace_back("x", x);
  for (const NamedTensor& parameter : parameters(network))
    if (!network.out || parameter.name != "embed.weight") loss.leaves.emplace_back(parameter.name, parameter.tensor);
  loss.result = [model, x, next] {
    return segment_loss(model->network.logits_of(model->network.body->continued(x, {}).answers), next);
  };
  loss.dtype = default_dtype();
  loss.through_time = ThroughTime{x, [model](const Tensor& rows) { return model->network.body->states(rows); },
                                  [model, next](const StatesOverTime& states) {
                                    return segment_loss(model->network.logits_of(states.answers), next);
                                  }};
  return loss;
}

}  // namespace retrace
