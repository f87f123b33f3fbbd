#include <retrace/core/files/crc64.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/safetensors_checksum.h>
#include <retrace/core/trace/trace_file.h>
#include <retrace/models/data/zip.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/trust/reader_files.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace retrace {
namespace {

/// A number of `count` bytes, the lowest first.
std::string low_first(std::uint64_t number, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += static_cast<char>(number >> (8 * i) & 0xff);
  return result;
}

std::string type_name(Dtype dtype) { return dtype == f32 ? "F32" : dtype == f64 ? "F64" : "I64"; }

std::string value_bytes(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    const auto bytes = std::as_bytes(x.values<decltype(zero)>());
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
}

}  // namespace

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const std::function<void(const std::string& path)>& write) {
  std::string folder = (std::filesystem::temp_directory_path() / "retrace_trust_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("there is no folder " + folder);
  write(folder + "/file");
  std::string bytes = bytes_in(folder + "/file");
  std::filesystem::remove_all(folder);
  return bytes;
}

std::string without_checksum(const SafetensorsFile& file) {
  JsonWriter header;
  header.begin_object().key("__metadata__").begin_object();
  for (const auto& [key, value] : file.metadata) header.key(key).value(value);
  header.end_object();
  std::string values;
  for (const auto& [name, tensor] : file.tensors) {
    const std::size_t begin = values.size();
    values += value_bytes(tensor);
    header.key(name).begin_object().key("dtype").value(type_name(tensor.dtype()));
    header.key("shape").list(tensor.shape());
    header.key("data_offsets").begin_array().value(begin).value(values.size()).end_array().end_object();
  }
  const std::string text = header.end_object().text();
  return low_first(text.size(), 8) + text + values;
}

std::string without_checksum(const std::string& bytes) {
  SafetensorsFile file;
  written([&](const std::string& path) {
    std::ofstream(path, std::ios::binary) << bytes;
    file = read_safetensors(path);
  });
  return without_checksum(file);
}

std::string of_version_02(const SafetensorsFile& file) {
  SafetensorsFile marked = file;
  marked.metadata = {{checksum_of_bytes::key, std::string(checksum_of_bytes::blank_digits)}};
  std::string bytes = without_checksum(marked);
  Crc64 checksum;
  checksum.add(bytes.data(), bytes.size());
  const std::string digits = checksum_digits(checksum.value());
  return bytes.replace(8 + checksum_of_bytes::mark.size(), digits.size(), digits);
}

std::string gzipped(const std::string& bytes) {
  constexpr std::size_t largest_block = 65535;
  std::string result("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += largest_block) {
    const std::string block = bytes.substr(at, largest_block);
    const bool last = at + block.size() == bytes.size();
    result += (last ? '\1' : '\0') + low_first(block.size(), 2) + low_first(~block.size(), 2) + block;
  }
  return result + low_first(crc32_of(bytes), 4) + low_first(bytes.size(), 4);
}

std::string idx_file(std::uint32_t rows, std::uint32_t columns) {
  std::string result("\0\0\x08\2", 4);
  for (const std::uint32_t extent : {rows, columns})
    for (int shift = 24; shift >= 0; shift -= 8) result += static_cast<char>(extent >> shift & 0xff);
  for (std::uint32_t k = 0; k < rows * columns; ++k) result += static_cast<char>(k % 251);
  return result;
}

std::string csv_file(std::int64_t lines) {
  std::string result = "height,\"width, in mm\",kind\n";
  for (std::int64_t k = 0; k < lines; ++k)
    result += text(k, ".5,", -3 * k, "e-2,", k % 3 == 0 ? "\"a \"\"b\"\"\"" : k % 3 == 1 ? "c" : "\xc3\xa4", "\r\n");
  return result;
}

std::string metrics_file(std::int64_t lines) {
  std::string result;
  for (std::int64_t step = 1; step <= lines; ++step)
    result +=
        to_json(Metrics{.step = step, .loss = 0.5, .metric_name = name_of(Metric::accuracy), .memory_bytes = 4096}) +
        "\n";
  return result;
}

SafetensorsFile some_tensors(std::int64_t n) {
  Random random(3);
  return {{{"weight", random.normal({n, 2})},
           {"wide", random.normal({n}, f64)},
           {"ids", arange(0, n, 1, i64)},
           {"none", zeros({0})}},
          {{"by", "hand"}}};
}

std::string index_file(std::int64_t count) {
  JsonWriter index;
  index.begin_object().key("metadata").begin_object().key("total_size").value(12 * count).end_object();
  index.key("weight_map").begin_object();
  for (std::int64_t k = 0; k < count; ++k)
    index.key(text("layers.", k, ".weight")).value(text("model-0000", 1 + k % 3, "-of-00003.safetensors"));
  return index.end_object().end_object().text();
}

SmallTraining::SmallTraining(std::int64_t hidden) : lstm(2, hidden, random) {
  Tape tape;
  tape.backward(mean(square(lstm(random.normal({2, 3, 2})).y)));
  adam.step();
  average.update();
  plateau(0.5);
}

TrainingParts SmallTraining::parts() {
  return {.parameters = parameters(lstm),
          .optimizers = {&adam},
          .averages = {&average},
          .plateaus = {&plateau},
          .randoms = {&random},
          .numbers = {&examples, &lowest}};
}

std::string stored_run_file(std::int64_t hidden, bool checkpoint) {
  RunOptions options{.task = "pair-matching", .model = {.name = "lstm", .sizes = {.hidden = hidden}}};
  const std::unique_ptr<Task> task = make_task(options.task);
  Random random(5);
  const std::unique_ptr<SequenceModel> model = make_model_for(*task, filled_spec(options, *task), random);
  options.fit.steps = 1;
  options.fit.batch = 2;
  options.fit.learning_rate = 0.01;
  options.fit.validate_every = 1;
  options.fit.validation_samples = options.fit.test_samples = 2;
  options.fit.model = describe_run(options, *task);
  return written([&](const std::string& path) {
    if (!checkpoint) return save_run(path, options, *task, *model);
    options.fit.checkpoint = path;
    fit(*model, *task, options.fit);
  });
}

std::string trace_file(std::int64_t rows) {
  Random random(5);
  const Tensor w = parameter(random.normal({3, 3}), "w"), x = random.normal({rows, 3});
  Tape tape({.keep = true});
  const Tensor loss = mean(square(softmax(matmul(x, w))));
  const Trace trace = trace_backward(tape, loss, {.title = "a product"});
  return written([&](const std::string& path) { save(trace, path); });
}

}  // namespace retrace
