// For those who write ops: how an op puts itself on the tape.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/tensor_refs.h>

namespace retrace {

namespace detail {

/// The work of record(), which is a quarter of what an op on a few numbers costs.
class Recorder {
 public:
  /// The arguments of record().
  struct Call {
    const OpInfo& op;
    BackwardFunction backward;
    TensorRefs inputs, outputs, saved;
    std::size_t attribute_bytes;
    void (*destroy_attributes)(void*);
  };
  /// A place for the attributes, or null where nothing is recorded. Throws TapeError for an input of another tape.
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
  /// How many inputs, outputs and saved values a call has.
  struct AnyCounts {
    std::size_t inputs, outputs, saved;
    explicit AnyCounts(const Call& call)
        : inputs(call.inputs.size()), outputs(call.outputs.size()), saved(call.saved.size()) {}
  };
  /// Those of most ops, known to the compiler.
  template <std::size_t Inputs, std::size_t Saved> struct KnownCounts {
    static constexpr std::size_t inputs = Inputs, outputs = 1, saved = Saved;
    explicit KnownCounts(const Call&) {}
  };
  template <class Counts> static void* record_counted(const Call& call);
  template <class Counts> static bool wants_record(const Tape& tape, const Call& call, Counts counts);
  template <class Counts> static Record* make_record(Tape& tape, const Call& call, Counts counts);
  template <class Counts> static void hold_nodes(Tape& tape, Record& record, const Call& call, Counts counts);
  template <class Counts> static void save_values(Tape& tape, Record& record, const Call& call, Counts counts);
  static void keep_node(Tape& tape, TensorInfo* node);
  [[gnu::cold]] static void show(const Tape& tape, const Record& record);
  static void check_outputs_finite(Tape& tape, const Call& call);
  static std::string origin_of_nonfinite(TensorRefs inputs);
};

}  // namespace detail

struct NoAttributes {};

/// Puts an op on the current tape, if there is one and an input wants a gradient: from then on the outputs do, too.
/// Only the values in `saved` can be read in backward; an op saves what its formula needs and no more.
template <class Attributes = NoAttributes>
[[gnu::always_inline]] inline void record(const OpInfo& op, BackwardFunction backward, TensorRefs inputs,
                                          TensorRefs outputs, TensorRefs saved = {},
                                          const Attributes& attributes = {}) {
  void (*destroy)(void*) = nullptr;
  if constexpr (!std::is_trivially_destructible_v<Attributes>)
    destroy = [](void* place) { static_cast<Attributes*>(place)->~Attributes(); };
  static_assert(alignof(Attributes) <= 16 && std::is_nothrow_copy_constructible_v<Attributes>);
  constexpr std::size_t bytes = std::is_empty_v<Attributes> ? 0 : sizeof(Attributes);
  void* place = detail::Recorder::record({op, backward, inputs, outputs, saved, bytes, destroy});
  if constexpr (bytes > 0)
    if (place != nullptr) new (place) Attributes(attributes);
}

/// The values of x in a tensor that may be written over: in the buffer of x, if this handle is the last to it and no
/// tape keeps them, or else in a copy. Cut off the tape.
Tensor to_write_over(const Tensor& x);

/// Whether fused ops are to record their composed twins (TapeOptions::expand_fused of the current tape).
bool expand_fused();

/// x, with this name in prints and traces if it has none yet and the current tape keeps values (TapeOptions::keep), so
/// that a reader finds the intermediates of a module under the names of its formulas. Those that a module repeats step
/// by step are numbered: h, h_1, h_2.
const Tensor& intermediate(std::string_view name, const Tensor& x);

}  // namespace retrace
