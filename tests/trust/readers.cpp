#include <retrace/core/files/json_tree.h>
#include <retrace/core/trace/trace_file.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/data/idx.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/study/expression/expression.h>
#include <retrace/models/study/expression/input.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/nn/files/pytorch.h>
#include <retrace/nn/files/training_file.h>
#include <retrace/tests/trust/reader_files.h>
#include <retrace/tests/trust/readers.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace retrace {
namespace {

std::string all_of(const Tensor& x) {
  return text(x.dtype(), x.shape(), " ") + dispatch_any(x.dtype(), [&](auto zero) {
           const auto bytes = std::as_bytes(x.values<decltype(zero)>());
           return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
         });
}
std::string all_of(const std::map<std::string, Tensor>& tensors) {
  std::string result;
  for (const auto& [name, tensor] : tensors) result += name + all_of(tensor);
  return result;
}
std::string all_of(const std::vector<NamedTensor>& tensors) {
  std::string result;
  for (const auto& [name, tensor] : tensors) result += name + all_of(tensor);
  return result;
}
std::string all_of(const SafetensorsFile& file) {
  std::string result = all_of(file.tensors);
  for (const auto& [key, value] : file.metadata) result += text(key, "=", value, "\n");
  return result;
}
std::string all_of(const Csv& csv) {
  std::string result = all_of(csv.values);
  for (const std::string& name : csv.names) result += name + "\n";
  for (const auto& [name, words] : csv.words)
    for (const std::string& word : words) result += text(name, "=", word, "\n");
  return result;
}
std::string all_of(const Task& task) {
  Random random(1);
  const Batch batch = task.sample(random, 4);
  return all_of(batch.x) + all_of(batch.y);
}

/// What `load` puts into an object; `all` tells its state. A load that fails leaves the object as it was.
template <class All, class Load> std::string loaded(All&& all, Load&& load) {
  const std::string before = all();
  try {
    load();
  } catch (...) {
    if (all() != before) throw std::logic_error("a load that failed had changed something");
    throw;
  }
  return all();
}

constexpr std::int64_t hidden = 34, hidden_in_training = 14;

std::string read_weights(const std::string& path, bool pytorch) {
  Random random(1);
  const Lstm lstm(2, hidden, random);
  return loaded([&] { return all_of(parameters(lstm)); },
                [&] { pytorch ? load_pytorch(path, lstm) : load(path, lstm); });
}

std::string read_training(const std::string& path) {
  SmallTraining training(hidden_in_training);
  const auto all = [&] {
    std::string numbers = text(training.examples, " ", training.lowest, " ", training.plateau.state.best, " ",
                               training.random.state().drawn, " ", training.average.updates());
    for (const std::int64_t updates : training.adam.standing().updates) numbers += text(" ", updates);
    for (const auto& slot : training.adam.slots()) numbers += all_of(slot.state);
    return numbers + all_of(parameters(training.lstm)) + all_of(training.average.averages());
  };
  return loaded(all, [&] { load_training(path, training.parts()); });
}

std::string in_words(const TrainingState& standing) {
  return text(standing.step, " ", standing.best_step, " ", standing.best.loss, " ", standing.window_loss, " ",
              standing.seconds, " ", standing.curriculum.lesson, " ", standing.curriculum.accuracy);
}

std::string read_checkpoint(const std::string& path) {
  const Tensor a = zeros({2, 3}), b = zeros({800, 6});
  TrainingState standing;
  const auto all = [&] { return in_words(standing) + all_of(a) + all_of(b); };
  return loaded(all, [&] {
    const TrainingState read = load_checkpoint(path, {{"a", a}, {"b", b}}, "batch 2, seed 1");
    standing = read;
  });
}
std::string checkpoint_file() {
  return written([&](const std::string& path) {
    save_checkpoint(path, {{"a", full({2, 3}, 1.5)}, {"b", full({800, 6}, -2)}},
                    {.step = 7, .best_step = 3, .window_loss = 0.5}, "batch 2, seed 1");
  });
}

std::string read_run(const std::string& path) {
  const StoredRun run = load_run(path);
  return text(run.task_name, " ", run.spec.name, " ", run.seed, " ", run.step, " ") + all_of(parameters(*run.model));
}

std::string read_data(const std::string& path) {
  return all_of(
      *DataFile::make({.data = path, .label = path.ends_with(".csv") ? "kind" : std::optional<std::string>{}}));
}

std::string read_text_file(const std::string& path) {
  const TextData data = read_text({.text = path, .tokens = TokenKind::words});
  std::string result;
  for (const std::int32_t id : data.ids) result += data.vocabulary.tokens()[static_cast<std::size_t>(id)] + " ";
  return result;
}
std::string text_file(std::int64_t lines) {
  std::string result;
  for (std::int64_t k = 0; k < lines; ++k) result += text("line ", k, " of a t\xc3\xa4xt\n");
  return result;
}

std::string read_metrics(const std::string& path) {
  std::istringstream lines(bytes_in(path));
  std::string result;
  for (std::string line; std::getline(lines, line);) result += to_json(metrics_from_json(path, line)) + "\n";
  return result;
}

std::string read_document(const std::string& path) { return text(read_json_tree(bytes_in(path)).value.index()); }
std::string document(std::int64_t elements) {
  std::string result = R"({"a": [true, null, -1.5e3, "\u00e4\n)"
                       "\xc3\xa4"
                       R"("], "b": [)";
  for (std::int64_t k = 0; k < elements; ++k) result += text(k, ", ");
  return result + "0]}";
}

std::string read_expression(const std::string& path) {
  return all_of(parse_expression(bytes_in(path))({{"x", full({2, 3}, 0.5)}, {"w", full({3, 2}, 0.25)}}));
}
std::string expression(std::int64_t parts) {
  std::string result = "y = softmax(matmul(x, w) / 2, axis=0)[:, 0:1] + [1, 2][0]";
  for (std::int64_t k = 0; k < parts; ++k) result += text("; y", k, " = y - ", k, ".5e-1 * tanh(x[0, 0])");
  return result + "; reshape(y, [1, 2])";
}
std::string read_input(const std::string& path) { return all_of(parse_input(bytes_in(path), 1, f64).tensor); }
std::string input(std::int64_t rows) {
  std::string result = "x=[[1, 2.5e-1]";
  for (std::int64_t k = 1; k < rows; ++k) result += text(", [nan, -", k, "]");
  return result + "]";
}

std::string of(const std::map<std::string, Tensor>& arrays) {
  return written([&](const std::string& path) { write_npz(path, arrays); });
}
std::string npz_file(std::int64_t n) { return of({{"x", full({n, 3}, 0.5)}, {"y", arange(0, n, 1, i64)}}); }
std::string npy_file(std::int64_t rows) {
  return written([&](const std::string& path) { write_npy(path, Random(1).normal({rows, 3}, f64)); });
}
/// As NumPy saves a column-major array of halves of a big-endian machine.
std::string other_npy_file(std::int64_t rows) {
  std::string header = text("{'descr': '>f2', 'fortran_order': True, 'shape': (", rows, ", 2), }\n");
  std::string result("\x93NUMPY\2\0", 8);
  for (int shift = 0; shift < 32; shift += 8) result += static_cast<char>(header.size() >> shift & 0xff);
  result += header;
  for (std::int64_t k = 0; k < 4 * rows; ++k) result += static_cast<char>(k % 120);
  return result;
}
std::string weights_file(bool pytorch) {
  Random random(2);
  const Lstm lstm(2, hidden, random);
  return written([&](const std::string& path) { pytorch ? save_pytorch(path, lstm) : save(path, lstm); });
}
std::string training_file() {
  SmallTraining training(hidden_in_training);
  return written([&](const std::string& path) { save_training(path, training.parts()); });
}

std::string read_index(const std::string& path, std::int64_t count) {
  const std::string folder = path.substr(0, path.rfind('/'));
  for (int shard = 0; shard < 3; ++shard) {
    std::map<std::string, Tensor> tensors;
    for (std::int64_t k = shard; k < count; k += 3) tensors[text("layers.", k, ".weight")] = full({3}, k);
    const std::string file = text(folder, "/model-0000", 1 + shard, "-of-00003.safetensors");
    if (!std::filesystem::exists(file)) write_safetensors(file, tensors);
  }
  return all_of(read_safetensors(path));
}

constexpr std::string_view any_value = "has no checksum: other values of the same sizes are another valid file";
constexpr std::string_view packed_header = "the time, the system and the name in a gzip header are not read";
constexpr std::string_view one_line_less = "without some of its lines or letters it is another valid text";

const FileReader readers[] = {
    {"safetensors", "x.safetensors", Guard::contents, "",
     [] { return written([](const std::string& path) { write_safetensors(path, some_tensors(630).tensors); }); },
     [](const std::string& path) { return all_of(read_safetensors(path)); }},
    {"safetensors of other programs", "x.safetensors", Guard::length, any_value,
     [] { return without_checksum(some_tensors(630)); },
     [](const std::string& path) { return all_of(read_safetensors(path)); }},
    {"safetensors of version 0.2", "x.safetensors", Guard::contents, "",
     [] { return of_version_02(some_tensors(630)); },
     [](const std::string& path) { return all_of(read_safetensors(path)); }},
    {"index of weights", "model.safetensors.index.json", Guard::contents, "", [] { return index_file(60); },
     [](const std::string& path) { return read_index(path, 60); }},
    {"weights", "x.safetensors", Guard::contents, "", [] { return weights_file(false); },
     [](const std::string& path) { return read_weights(path, false); }},
    {"weights of PyTorch", "x.safetensors", Guard::length, any_value,
     [] { return without_checksum(weights_file(true)); },
     [](const std::string& path) { return read_weights(path, true); }},
    {"training state", "x.safetensors", Guard::contents, "", training_file, read_training},
    {"training state without checksum", "x.safetensors", Guard::length, any_value,
     [] { return without_checksum(training_file()); }, read_training},
    {"checkpoint", "checkpoint.safetensors", Guard::contents, "", checkpoint_file, read_checkpoint},
    {"checkpoint without checksum", "checkpoint.safetensors", Guard::length, any_value,
     [] { return without_checksum(checkpoint_file()); }, read_checkpoint},
    {"stored run", "weights.safetensors", Guard::contents, "", [] { return stored_run_file(32, false); }, read_run},
    {"stored run without checksum", "weights.safetensors", Guard::length, any_value,
     [] { return without_checksum(stored_run_file(32, false)); }, read_run},
    {"stored run in its training", "checkpoint.safetensors", Guard::length, any_value,
     [] { return without_checksum(stored_run_file(12, true)); }, read_run},
    {"trace", "x.trace.safetensors", Guard::contents, "", [] { return trace_file(60); },
     [](const std::string& path) { return to_json(load_trace(path)); }},
    {"trace without checksum", "x.trace.safetensors", Guard::length, any_value,
     [] { return without_checksum(trace_file(60)); },
     [](const std::string& path) { return to_json(load_trace(path)); }},
    {"npy", "x.npy", Guard::length, any_value, [] { return npy_file(830); },
     [](const std::string& path) { return all_of(read_npy(path)); }},
    {"npy of other machines", "x.npy", Guard::length, any_value, [] { return other_npy_file(400); },
     [](const std::string& path) { return all_of(read_npy(path)); }},
    {"npy packed", "x.npy.gz", Guard::contents, packed_header, [] { return gzipped(npy_file(830)); },
     [](const std::string& path) { return all_of(read_npy(path)); }},
    {"npz", "x.npz", Guard::contents, "times, versions and attributes of a zip archive are not read",
     [] { return npz_file(1000); }, [](const std::string& path) { return all_of(read_npz(path)); }},
    {"idx", "x.idx", Guard::length, any_value, [] { return idx_file(100, 200); },
     [](const std::string& path) { return all_of(read_idx(path)); }},
    {"idx packed", "x.gz", Guard::contents, packed_header, [] { return gzipped(idx_file(100, 200)); },
     [](const std::string& path) { return all_of(read_idx(path)); }},
    {"CSV", "x.csv", Guard::none, one_line_less, [] { return csv_file(900); },
     [](const std::string& path) { return all_of(read_csv(path, {.words = {"kind"}})); }},
    {"CSV packed", "x.csv.gz", Guard::contents, packed_header, [] { return gzipped(csv_file(900)); },
     [](const std::string& path) { return all_of(read_csv(path, {.words = {"kind"}})); }},
    {"task of a table", "x.csv", Guard::none, one_line_less, [] { return csv_file(300); }, read_data},
    {"task of arrays", "x.npz", Guard::contents, "times, versions and attributes of a zip archive are not read",
     [] { return npz_file(300); }, read_data},
    {"text", "x.txt", Guard::none, one_line_less, [] { return text_file(300); }, read_text_file},
    {"metrics", "metrics.jsonl", Guard::none, one_line_less, [] { return metrics_file(40); }, read_metrics},
    {"JSON", "x.json", Guard::length, any_value, [] { return document(700); }, read_document, "read_json: byte "},
    {"expression", "x.txt", Guard::none, one_line_less, [] { return expression(20); }, read_expression, "^"},
    {"input of an expression", "x.txt", Guard::none, one_line_less, [] { return input(100); }, read_input, "^"},
};

}  // namespace

std::span<const FileReader> file_readers() { return readers; }

}  // namespace retrace
