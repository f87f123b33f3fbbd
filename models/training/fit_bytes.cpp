#include <retrace/models/training/fit_bytes.h>

#include <cstring>
#include <type_traits>

namespace retrace {
namespace {

class BytesWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void value(const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  std::size_t count(std::size_t count) {
    value(count);
    return count;
  }
  void characters(const std::string& text) { bytes += text; }
  std::string bytes;
};

class BytesReader {
 public:
  explicit BytesReader(const std::string& bytes) : next_(bytes.data()) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void value(T& value) {
    std::memcpy(&value, next_, sizeof value);
    next_ += sizeof value;
  }
  std::size_t count(std::size_t /*of what is read into*/) {
    std::size_t count = 0;
    value(count);
    return count;
  }
  void characters(std::string& text) {
    text.assign(next_, text.size());
    next_ += text.size();
  }

 private:
  const char* next_;
};

// Each passes the members to a writer or a reader, in one order.

void pass(auto& by, std::string& text) {
  text.resize(by.count(text.size()));
  by.characters(text);
}

void pass_name(auto& by, std::string_view& name) {
  std::string words(name);
  pass(by, words);
  for (const Metric metric : {Metric::accuracy, Metric::mse, Metric::bits_per_character, Metric::perplexity})
    if (words == name_of(metric)) name = name_of(metric);
}

void pass(auto& by, LayerGradient& layer) {
  pass(by, layer.layer);
  by.value(layer.norm);
}

template <class T> void pass_all(auto& by, std::vector<T>& list) {
  list.resize(by.count(list.size()));
  for (T& each : list) pass(by, each);
}

void pass(auto& by, double& number) { by.value(number); }

void pass(auto& by, Metrics& metrics) {
  by.value(metrics.step), by.value(metrics.loss);
  by.value(metrics.last_step.loss), by.value(metrics.last_step.gradient_norm);
  by.value(metrics.last_step.learning_rate);
  pass_all(by, metrics.last_step.gradient_norms);
  pass_name(by, metrics.metric_name);
  by.value(metrics.validation), by.value(metrics.samples_per_second), by.value(metrics.seconds);
  by.value(metrics.memory_bytes), by.value(metrics.lesson);
}

void pass(auto& by, FitResult& result) {
  by.value(result.steps), by.value(result.best_step), by.value(result.seconds), by.value(result.stopped_by);
  by.value(result.validation), by.value(result.test), by.value(result.reference_loss);
  pass_all(by, result.losses);
  pass_all(by, result.history);
}

}  // namespace

std::string to_bytes(const FitResult& result) {
  FitResult copy = result;
  BytesWriter writer;
  pass(writer, copy);
  return std::move(writer.bytes);
}

FitResult fit_result_from_bytes(const std::string& bytes) {
  FitResult result;
  BytesReader reader(bytes);
  pass(reader, result);
  return result;
}

}  // namespace retrace
