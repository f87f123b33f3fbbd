// The tape: a flat list of what was computed, walked backwards to give gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/record.h>
#include <retrace/core/tensor_refs.h>

namespace retrace {

/// What a tape keeps, records and checks.
struct TapeOptions {
  bool keep = false;          // keep every value and gradient until the tape ends, for study
  bool expand_fused = false;  // record the composed twin of each fused op, so that its inside can be seen
  bool check_finite = false;  // throw at the first record, forward or backward, that is not finite; what a fused op
                              // hides inside shows with expand_fused
};

/// While a tape is in scope, ops of this thread that touch something that wants a gradient are recorded on it; without
/// one nothing is. Tapes nest, and the innermost records.
///
///   Tape tape;
///   Tensor loss = mean(square(matmul(x, w) - y));
///   tape.backward(loss);          // w.grad() is there
class Tape {
 public:
  explicit Tape(TapeOptions options = {});
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Leaves d loss / d x in x.grad() of every parameter, watched leaf and held intermediate that loss depends on. The
  /// loss has one element. Closes the tape: what follows in its scope is not recorded. Throws TapeError for a loss that
  /// nothing leads to, for one of another tape, and when called twice. A loss that is NaN is walked back, too, but an
  /// optimiser's step() then refuses the gradients, even if they are finite.
  void backward(const Tensor& loss);
  /// As for the loss sum_j <cotangents[j], outputs[j]>. An undefined cotangent stands for an unused output.
  void backward(const Tensors& outputs, const Tensors& cotangents);

  /// The options that the tape was made with.
  const TapeOptions& options() const { return options_; }
  std::int64_t size() const { return size_; }
  /// First to last.
  std::vector<const Record*> records() const;
  /// The first record whose path of scopes and op ends with `path`: "softmax", "mha/softmax". Null if there is none.
  const Record* find(std::string_view path) const;
  bool closed() const { return closed_; }

  /// The tape that records now on this thread; null if none does.
  static Tape* current();

  /// The arguments of record().
  struct Call {
    const OpInfo& op;
    BackwardFunction backward;
    TensorRefs inputs, outputs, saved;
    std::size_t attribute_bytes;
    void (*destroy_attributes)(void*);
  };
  /// Does the work of record() in core/recording.h: returns a place for the attributes, or null where nothing is
  /// recorded. Throws TapeError for an input of another tape.
  static void* record(const Call& call) {
    const auto has = [&](std::size_t inputs, std::size_t saved) {
      return call.inputs.size() == inputs && call.outputs.size() == 1 && call.saved.size() == saved;
    };
    if (has(1, 0)) return record_counted<KnownCounts<1, 0>>(call);
    if (has(1, 1)) return record_counted<KnownCounts<1, 1>>(call);
    if (has(2, 0)) return record_counted<KnownCounts<2, 0>>(call);
    if (has(2, 2)) return record_counted<KnownCounts<2, 2>>(call);
    return record_counted<AnyCounts>(call);
  }

 private:
  friend class BackwardWalk;
  friend class NoTape;
  struct Chunk;
  struct KeptNode;

  /// How many inputs, outputs and saved values a call has.
  struct AnyCounts {
    std::size_t inputs, outputs, saved;
    explicit AnyCounts(const Call& call)
        : inputs(call.inputs.size()), outputs(call.outputs.size()), saved(call.saved.size()) {}
  };
  /// Those of most ops, known to the compiler: record() is a quarter of what an op on a few numbers costs.
  template <std::size_t Inputs, std::size_t Saved> struct KnownCounts {
    static constexpr std::size_t inputs = Inputs, outputs = 1, saved = Saved;
    explicit KnownCounts(const Call&) {}
  };
  template <class Counts> static void* record_counted(const Call& call);
  bool wants(const OpInfo& op, TensorRefs inputs, std::size_t count) const;
  void* allocate(std::size_t bytes);
  void add_chunk(std::size_t bytes);
  const ScopeEntry* current_scope();
  void check_outputs_finite(const OpInfo& op, TensorRefs inputs, TensorRefs outputs);
  static std::string origin_of_nonfinite(TensorRefs inputs);
  void keep_node(TensorInfo* node);
  void release_record(Record& record);

  TapeOptions options_;
  bool closed_ = false;
  std::uint64_t serial_;
  Tape* outer_;
  Record* last_ = nullptr;
  std::int64_t size_ = 0;
  KeptNode* kept_ = nullptr;
  Chunk* chunk_ = nullptr;
  std::byte* chunk_next_ = nullptr;
  std::byte* chunk_end_ = nullptr;
};

/// Suspends recording on this thread until the end of the block.
class NoTape {
 public:
  NoTape();
  ~NoTape();
  NoTape(const NoTape&) = delete;
  NoTape& operator=(const NoTape&) = delete;

 private:
  Tape* suspended_;
};

/// Every record: op, outputs <- inputs, formulas.
std::ostream& operator<<(std::ostream& out, const Tape& tape);

}  // namespace retrace
