// Valid files for the readers of readers.h, as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <retrace/core/files/safetensors.h>
#include <retrace/nn/nn.h>

namespace retrace {

/// The bytes of the file that `write` writes to a path.
std::string written(const std::function<void(const std::string& path)>& write);
/// All bytes of a file.
std::string bytes_in(const std::string& path);

/// A safetensors file as other programs write it, without a checksum: what it says is then read whatever its bytes are.
std::string without_checksum(const SafetensorsFile& file);
/// The same of a file of write_safetensors.
std::string without_checksum(const std::string& bytes);
/// The file as version 0.2 wrote it, with a checksum of its bytes.
std::string of_version_02(const SafetensorsFile& file);
/// A gzip file that holds these bytes, not compressed.
std::string gzipped(const std::string& bytes);
/// An IDX file of bytes [rows, columns].
std::string idx_file(std::uint32_t rows, std::uint32_t columns);
/// A table with a header, columns of numbers and one of words.
std::string csv_file(std::int64_t lines);
/// Lines of a training's metrics.
std::string metrics_file(std::int64_t lines);

/// The index of `count` tensors in three files: of tensor k, "layers.<k>.weight", in "model-0000<1 + k % 3>-of-00003".
std::string index_file(std::int64_t count);

/// Tensors of each type that is stored, some 8 bytes each times n.
SafetensorsFile some_tensors(std::int64_t n);

/// A training by hand with everything that save_training can store.
struct SmallTraining {
  explicit SmallTraining(std::int64_t hidden);
  TrainingParts parts();

  Random random{7};
  Lstm lstm;
  AdamW adam{lstm};
  Ema average{lstm};
  ReduceOnPlateau plateau{};
  std::int64_t examples = 3;
  double lowest = 0.25;
};

/// A file of a stored model: weights or, with `checkpoint`, the state of its training.
std::string stored_run_file(std::int64_t hidden, bool checkpoint);
/// The trace of a small model's backward.
std::string trace_file(std::int64_t rows);

}  // namespace retrace
