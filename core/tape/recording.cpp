#include <retrace/core/tape/observer.h>
#include <retrace/core/tape/passed_record.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tape/tape_checks.h>
#include <retrace/core/tensor/finite_check.h>
#include <retrace/core/tensor/op_access.h>

namespace retrace {
namespace {

[[noreturn]] void throw_undefined_operand(const OpInfo& op, const char* role, std::size_t i) {
  throw_undefined(op.name, text(role, " ", i));
}

inline Node& checked(TensorInfo* node, const OpInfo& op, const char* role, std::size_t i) {
  if (node == nullptr) [[unlikely]]
    throw_undefined_operand(op, role, i);
  return *node_of(node);
}

[[noreturn]] void throw_other_tape(const OpInfo& op, Node& input, std::size_t i) {
  throw TapeError(
      text(op.name, ": ", describe_at("input", i, OpAccess::handle(input)),
           " was recorded on another (earlier or outer) tape, where its gradient would be lost; call detach() "
           "on it, or record both on one tape"));
}

}  // namespace

// A record keeps its outputs until the tape ends, and therefore what later records of this tape make of them.
template <class Counts> void* detail::Recorder::record_counted(const Call& call) {
  Tape* const tape = Tape::innermost_;
  if (tape == nullptr || tape->closed_) return nullptr;
  const Counts counts(call);
  if (!wants_record(*tape, call, counts)) return nullptr;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < counts.outputs; ++j) checked(call.outputs[j], call.op, "output", j);
  if (tape->options_.check_finite) [[unlikely]]
    check_outputs_finite(*tape, call);
  Record* const record = make_record(*tape, call, counts);
  hold_nodes(*tape, *record, call, counts);
  save_values(*tape, *record, call, counts);
  if (tape->watched_) [[unlikely]]
    show(*tape, *record);
  return record->attributes_;
}

// To the reader of a keeping tape, who may ask for all values, and to an observer.
void detail::Recorder::show(const Tape& tape, const Record& record) {
  if (tape.options_.keep)
    for (int i = 0; i < record.inputs_ + record.outputs_; ++i) node_of(record.nodes_[i])->add_handle();
  if (TapeObserver* observer = TapeObserver::current()) observer->recorded(record);
}

template <class Counts>
[[gnu::always_inline]] inline bool detail::Recorder::wants_record(const Tape& tape, const Call& call, Counts counts) {
  bool wanted = false;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < counts.inputs; ++i) {
    Node& node = checked(call.inputs[i], call.op, "input", i);
    if (!node.wants_gradient) continue;
    wanted = true;
    if (node.tape != 0 && node.tape != tape.serial_) [[unlikely]]
      throw_other_tape(call.op, node, i);
  }
  return wanted;
}

// The record, its nodes and saved values, and its attributes lie one after the other.
template <class Counts>
[[gnu::always_inline]] inline Record* detail::Recorder::make_record(Tape& tape, const Call& call, Counts counts) {
  constexpr std::size_t head = Arena::aligned(sizeof(Record));
  const std::size_t node_bytes = (counts.inputs + counts.outputs) * sizeof(TensorInfo*);
  const std::size_t lists = Arena::aligned(node_bytes + counts.saved * sizeof(SavedValue));
  std::byte* const place = static_cast<std::byte*>(tape.arena_.allocate(head + lists + call.attribute_bytes));
  Record* const record = new (place) Record;
  record->op_ = &call.op;
  record->backward_ = call.backward;
  record->previous_ = tape.last_;
  record->scope_ = Scope::innermost_ == nullptr ? nullptr : Scope::innermost_on(tape.serial_, tape.arena_);
  record->nodes_ = reinterpret_cast<TensorInfo**>(place + head);
  record->saved_list_ = reinterpret_cast<SavedValue*>(place + head + node_bytes);
  record->attributes_ = place + head + lists;
  record->destroy_attributes_ = call.destroy_attributes;
  record->index_ = tape.size_++;
  record->inputs_ = static_cast<std::int32_t>(counts.inputs);
  record->outputs_ = static_cast<std::int32_t>(counts.outputs);
  record->saved_ = static_cast<std::int32_t>(counts.saved);
  tape.last_ = record;
  return record;
}

template <class Counts>
[[gnu::always_inline]] inline void detail::Recorder::hold_nodes(Tape& tape, Record& record, const Call& call,
                                                                Counts counts) {
  TensorInfo** const nodes = record.nodes_;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < counts.inputs; ++i) {
    Node* const input = node_of(call.inputs[i]);
    if (input->tape != tape.serial_) retain_on_tape(input);
    nodes[i] = input;
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < counts.outputs; ++j) {
    Node* const output = node_of(call.outputs[j]);
    retain_on_tape(output);
    if (output->dtype != i64) {
      output->wants_gradient = output->awaits_gradient = true;
      output->tape = tape.serial_;
    }
    nodes[counts.inputs + j] = output;
  }
}

template <class Counts>
[[gnu::always_inline]] inline void detail::Recorder::save_values(Tape& tape, Record& record, const Call& call,
                                                                 Counts counts) {
  bool exposed = false;
  SavedValue* const saved_list = record.saved_list_;
#pragma GCC unroll 4
  for (std::size_t k = 0; k < counts.saved; ++k) {
    Node* const node = node_of(call.saved[k]);
    if (node == nullptr) {
      new (saved_list + k) SavedValue;
      continue;
    }
    bool is_of_record = false;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < counts.inputs + counts.outputs; ++i)
      is_of_record = is_of_record || record.nodes_[i] == node;
    if (!is_of_record) [[unlikely]]
      keep_node(tape, node);
    retain(node->storage);
    exposed = exposed || node->storage->is_exposed();
    new (saved_list + k) SavedValue(node, node->storage, node->elements, node->storage->version);
  }
  if (exposed) [[unlikely]]
    record.keep_copies();
}

void detail::Recorder::keep_node(Tape& tape, TensorInfo* node) {
  retain_on_tape(node_of(node));
  tape.kept_ = new (tape.arena_.allocate(sizeof(Tape::KeptNode))) Tape::KeptNode{node, tape.kept_};
}

void Record::keep_copies() {
  for (int k = 0; k < saved_; ++k) {
    SavedValue& value = saved_list_[k];
    if (!value || !value.storage_->is_exposed()) continue;
    const Tensor copy = value.tensor().clone();
    const Node& own = OpAccess::node(copy);
    retain(own.storage);
    release(value.storage_);
    value = SavedValue(value.info_, own.storage, own.elements, own.storage->version);
  }
}

void detail::Recorder::check_outputs_finite(Tape& tape, const Call& call) {
  for (std::size_t j = 0; j < call.outputs.size(); ++j) {
    Node& node = *node_of(call.outputs[j]);
    const std::int64_t position = find_nonfinite(node.elements, node.numel(), node.dtype);
    if (position < 0) continue;
    const std::string path =
        Scope::innermost_ == nullptr ? "" : path_of(Scope::innermost_on(tape.serial_, tape.arena_));
    throw TapeError(text(call.op.name, path.empty() ? "" : " in " + path, ": ",
                         describe_at("output", j, OpAccess::handle(node)), " of what would be record ", tape.size_,
                         " is ", element_text(node.elements, node.shape, node.dtype, position),
                         " (check_finite is on); ", origin_of_nonfinite(call.inputs)));
  }
}

// Whether the numbers that are not finite came in from outside of the tape.
std::string detail::Recorder::origin_of_nonfinite(TensorRefs inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Node& node = *node_of(inputs[i]);
    const std::int64_t position = find_nonfinite(node.elements, node.numel(), node.dtype);
    if (position >= 0)
      return text(describe_at("input", i, OpAccess::handle(node)), " already is ",
                  element_text(node.elements, node.shape, node.dtype, position));
  }
  return "its inputs are finite";
}

template void* detail::Recorder::record_counted<detail::Recorder::KnownCounts<1, 0>>(const Call&);
template void* detail::Recorder::record_counted<detail::Recorder::KnownCounts<1, 1>>(const Call&);
template void* detail::Recorder::record_counted<detail::Recorder::KnownCounts<2, 0>>(const Call&);
template void* detail::Recorder::record_counted<detail::Recorder::KnownCounts<2, 2>>(const Call&);
template void* detail::Recorder::record_counted<detail::Recorder::AnyCounts>(const Call&);

Tensor to_write_over(const Tensor& x) {
  check_defined("to_write_over", x, "x");
  const Node& node = OpAccess::node(x);
  const Tape* tape = Tape::current();
  const bool is_kept = tape != nullptr && tape->options().keep;
  return node.handles() == 1 && node.storage->is_only_handle() && !is_kept ? x.detach() : x.clone();
}

bool expand_fused() {
  const Tape* tape = Tape::current();
  return tape != nullptr && tape->options().expand_fused;
}

const Tensor& intermediate(std::string_view name, const Tensor& x) {
  const Tape* tape = Tape::current();
  return tape != nullptr && tape->options().keep && x.name().empty() ? x.named(name) : x;
}

}  // namespace retrace
