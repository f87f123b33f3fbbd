#include <retrace/core/finite_check.h>
#include <retrace/core/names.h>
#include <retrace/core/op_access.h>
#include <retrace/core/passed_record.h>
#include <retrace/core/recording.h>
#include <retrace/core/scope.h>
#include <retrace/core/tape.h>
#include <retrace/core/tape_checks.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace retrace {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;

thread_local constinit Tape* current_tape = nullptr;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

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

// Records lie one after the other in chunks from the pool, so that a tape of the same length asks for no new memory.
struct Tape::Chunk {
  Storage* storage;
  Chunk* outer;
  std::byte* first() { return reinterpret_cast<std::byte*>(this) + aligned(sizeof(Chunk)); }
};

struct Tape::KeptNode {
  TensorInfo* node;
  KeptNode* next;
};

Tape::Tape(TapeOptions options) : options_(options), serial_(next_serial()), outer_(current_tape) {
  current_tape = this;
}

[[gnu::always_inline]] inline void Tape::release_record(Record& record) {
  if (record.destroy_attributes_ != nullptr) record.destroy_attributes_(record.attributes_);
  if (!record.is_passed_) record.pass_by();
  TensorInfo** info = record.nodes_;
  TensorInfo** const outputs = info + record.inputs_;
  TensorInfo** const end = outputs + record.outputs_;
  if (options_.keep) [[unlikely]]
    std::for_each(info, end, [](TensorInfo* kept) { node_of(kept)->remove_handle(); });
  for (; info != outputs; ++info)
    if (node_of(*info)->tape != serial_) release_from_tape(node_of(*info));
  for (; info != end; ++info) release_from_tape(node_of(*info));
}

Tape::~Tape() {
  if (current_tape == this) current_tape = outer_;
  for (Record* record = last_; record != nullptr; record = record->previous_) release_record(*record);
  for (; kept_ != nullptr; kept_ = kept_->next) release_from_tape(node_of(kept_->node));
  while (chunk_ != nullptr) {
    Chunk* done = chunk_;
    chunk_ = done->outer;
    release(done->storage);
  }
}

Tape* Tape::current() { return current_tape != nullptr && !current_tape->closed_ ? current_tape : nullptr; }

bool expand_fused() {
  const Tape* tape = Tape::current();
  return tape != nullptr && tape->options().expand_fused;
}

[[gnu::always_inline]] inline bool Tape::wants(const OpInfo& op, TensorRefs inputs, std::size_t count) const {
  bool wanted = false;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = checked(inputs[i], op, "input", i);
    if (!node.wants_gradient) continue;
    wanted = true;
    if (node.tape != 0 && node.tape != serial_) [[unlikely]]
      throw_other_tape(op, node, i);
  }
  return wanted;
}

void Tape::add_chunk(std::size_t bytes) {
  const std::size_t room = std::max(chunk_bytes, bytes + aligned(sizeof(Chunk)));
  Storage* storage = allocate_storage(room);
  chunk_ = new (storage->data()) Chunk{storage, chunk_};
  chunk_next_ = chunk_->first();
  chunk_end_ = static_cast<std::byte*>(storage->data()) + room;
}

[[gnu::always_inline]] inline void* Tape::allocate(std::size_t bytes) {
  if (static_cast<std::size_t>(chunk_end_ - chunk_next_) < bytes) [[unlikely]]
    add_chunk(bytes);
  std::byte* place = chunk_next_;
  chunk_next_ += bytes;
  return place;
}

// For a saved value that is neither input nor output of its record.
void Tape::keep_node(TensorInfo* node) {
  retain_on_tape(node_of(node));
  kept_ = new (allocate(sizeof(KeptNode))) KeptNode{node, kept_};
}

// Whether the numbers that are not finite came in from outside of the tape.
std::string Tape::origin_of_nonfinite(TensorRefs inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Node& node = *node_of(inputs[i]);
    const std::int64_t position = find_nonfinite(node.elements, node.numel(), node.dtype);
    if (position >= 0)
      return text(describe_at("input", i, OpAccess::handle(node)), " already is ",
                  element_text(node.elements, node.shape, node.dtype, position));
  }
  return "its inputs are finite";
}

// ---- recording

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

// A record keeps its outputs until the tape ends, and therefore what later records of this tape make of them.
template <class Counts> void* Tape::record_counted(const Call& call) {
  Tape* const tape = current_tape;
  if (tape == nullptr || tape->closed_) return nullptr;
  const Counts counts(call);
  if (!tape->wants(call.op, call.inputs, counts.inputs)) return nullptr;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < counts.outputs; ++j) checked(call.outputs[j], call.op, "output", j);
  if (tape->options_.check_finite) [[unlikely]]
    tape->check_outputs_finite(call.op, call.inputs, call.outputs);

  const std::size_t node_bytes = (counts.inputs + counts.outputs) * sizeof(TensorInfo*);
  const std::size_t lists = aligned(node_bytes + counts.saved * sizeof(SavedValue));
  std::byte* place =
      static_cast<std::byte*>(tape->allocate(aligned(sizeof(Record)) + lists + aligned(call.attribute_bytes)));
  Record* record = new (place) Record;
  place += aligned(sizeof(Record));
  record->op_ = &call.op;
  record->backward_ = call.backward;
  record->previous_ = tape->last_;
  record->scope_ = Scope::innermost_ == nullptr ? nullptr : tape->current_scope();
  record->nodes_ = reinterpret_cast<TensorInfo**>(place);
  record->saved_list_ = reinterpret_cast<SavedValue*>(place + node_bytes);
  record->attributes_ = place + lists;
  record->destroy_attributes_ = call.destroy_attributes;
  record->index_ = tape->size_++;
  record->inputs_ = static_cast<std::int32_t>(counts.inputs);
  record->outputs_ = static_cast<std::int32_t>(counts.outputs);
  record->saved_ = static_cast<std::int32_t>(counts.saved);
  tape->last_ = record;

  TensorInfo** const nodes = record->nodes_;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < counts.inputs; ++i) {
    Node* input = node_of(call.inputs[i]);
    if (input->tape != tape->serial_) retain_on_tape(input);
    nodes[i] = input;
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < counts.outputs; ++j) {
    Node* output = node_of(call.outputs[j]);
    retain_on_tape(output);
    if (output->dtype != i64) {
      output->wants_gradient = output->awaits_gradient = true;
      output->tape = tape->serial_;
    }
    nodes[counts.inputs + j] = output;
  }
  bool exposed = false;
  SavedValue* const saved_list = record->saved_list_;
#pragma GCC unroll 4
  for (std::size_t k = 0; k < counts.saved; ++k) {
    Node* node = node_of(call.saved[k]);
    if (node == nullptr) {
      new (saved_list + k) SavedValue;
      continue;
    }
    bool is_of_record = false;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < counts.inputs + counts.outputs; ++i) is_of_record = is_of_record || nodes[i] == node;
    if (!is_of_record) [[unlikely]]
      tape->keep_node(node);
    retain(node->storage);
    exposed = exposed || node->storage->is_exposed();
    new (saved_list + k) SavedValue(node, node->storage, node->elements, node->storage->version);
  }
  if (exposed) [[unlikely]]
    record->keep_copies();
  if (tape->options_.keep) [[unlikely]]
    for (int i = 0; i < record->inputs_ + record->outputs_; ++i) node_of(nodes[i])->add_handle();
  return record->attributes_;
}

template void* Tape::record_counted<Tape::KnownCounts<1, 0>>(const Call&);
template void* Tape::record_counted<Tape::KnownCounts<1, 1>>(const Call&);
template void* Tape::record_counted<Tape::KnownCounts<2, 0>>(const Call&);
template void* Tape::record_counted<Tape::KnownCounts<2, 2>>(const Call&);
template void* Tape::record_counted<Tape::AnyCounts>(const Call&);

void Tape::check_outputs_finite(const OpInfo& op, TensorRefs inputs, TensorRefs outputs) {
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    Node& node = *node_of(outputs[j]);
    const std::int64_t position = find_nonfinite(node.elements, node.numel(), node.dtype);
    if (position < 0) continue;
    const std::string path = Scope::innermost_ == nullptr ? "" : path_of(current_scope(), {});
    throw TapeError(text(op.name, path.empty() ? "" : " in " + path, ": ",
                         describe_at("output", j, OpAccess::handle(node)), " of what would be record ", size_, " is ",
                         element_text(node.elements, node.shape, node.dtype, position), " (check_finite is on); ",
                         origin_of_nonfinite(inputs)));
  }
}

std::vector<const Record*> Tape::records() const {
  std::vector<const Record*> result(static_cast<std::size_t>(size_));
  std::size_t k = result.size();
  for (const Record* record = last_; record != nullptr; record = record->previous_) result[--k] = record;
  return result;
}

// ---- scopes

// The entries of the scopes that are open now, made on this tape when the first op in them is recorded.
const ScopeEntry* Tape::current_scope() {
  Scope* missing = Scope::innermost_;
  if (missing->tape_ == serial_) return missing->entry_;
  for (Scope* scope = Scope::innermost_; scope != nullptr; scope = scope->outer_) {
    if (scope->tape_ == serial_) break;
    scope->entry_ =
        new (allocate(aligned(sizeof(ScopeEntry)))) ScopeEntry{nullptr, scope->module_, scope->label_, scope->type_};
    scope->tape_ = serial_;
  }
  for (Scope* scope = Scope::innermost_; scope != nullptr && scope->outer_ != nullptr; scope = scope->outer_)
    scope->entry_->outer = scope->outer_->entry_;
  return Scope::innermost_->entry_;
}

// ---- no tape

NoTape::NoTape() : suspended_(current_tape) { current_tape = nullptr; }
NoTape::~NoTape() { current_tape = suspended_; }

}  // namespace retrace
