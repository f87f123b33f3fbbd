#include <retrace/core/recording.h>
#include <retrace/core/scope.h>
#include <retrace/core/tape.h>
#include <retrace/core/tape_checks.h>

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

[[noreturn]] void throw_undefined(const OpInfo& op, const char* role, std::size_t i) {
  Tensor::throw_undefined(op.name, text(role, " ", i));
}

inline Node& checked(Node* node, const OpInfo& op, const char* role, std::size_t i) {
  if (node == nullptr) [[unlikely]]
    throw_undefined(op, role, i);
  return *node;
}

}  // namespace

// Records lie one after the other in chunks from the pool, so that a tape of the same length asks for no new memory.
struct Tape::Chunk {
  Storage* storage;
  Chunk* outer;
  std::byte* first() { return reinterpret_cast<std::byte*>(this) + aligned(sizeof(Chunk)); }
};

Tape::Tape(TapeOptions options) : options_(options), serial_(next_serial()), outer_(current_tape) {
  current_tape = this;
}

[[gnu::always_inline]] inline void Tape::release_record(Record& record) {
  if (record.destroy_attributes_ != nullptr) record.destroy_attributes_(record.attributes_);
  const SavedValue* value = record.saved_list();
  for (const SavedValue* const end = value + record.saved_; value != end; ++value) {
    if (value->storage != nullptr) release(value->storage);
    if (value->node != nullptr) release_from_tape(value->node);
  }
  const auto let_go = [keep = options_.keep](Node* node) {
    if (keep) release_handle(node);
    release_from_tape(node);
  };
  Node** node = record.nodes();
  for (Node** const end = node + record.inputs_; node != end; ++node) let_go(*node);
  for (Node** const end = node + record.outputs_; node != end; ++node) {
    (*node)->awaits_gradient = false;
    let_go(*node);
  }
}

Tape::~Tape() {
  if (current_tape == this) current_tape = outer_;
  for (Record* record = last_; record != nullptr; record = record->previous_) release_record(*record);
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

void Tape::throw_other_tape(const OpInfo& op, Node& input, std::size_t i) {
  throw TapeError(
      text(op.name, ": ", describe_at("input", i, Tensor::of(input)),
           " was recorded on another (earlier or outer) tape, where its gradient would be lost; call detach() "
           "on it, or record both on one tape"));
}

inline bool Tape::wants(const OpInfo& op, TensorRefs inputs) const {
  bool wanted = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Node& node = checked(inputs[i], op, "input", i);
    if (!node.wants_gradient) continue;
    wanted = true;
    if (node.tape != 0 && node.tape != serial_) [[unlikely]]
      throw_other_tape(op, node, i);
  }
  return wanted;
}

inline void* Tape::allocate(std::size_t bytes) {
  if (static_cast<std::size_t>(chunk_end_ - chunk_next_) < bytes) [[unlikely]] {
    const std::size_t room = std::max(chunk_bytes, bytes + aligned(sizeof(Chunk)));
    Storage* storage = allocate_storage(room);
    chunk_ = new (storage->data()) Chunk{storage, chunk_};
    chunk_next_ = chunk_->first();
    chunk_end_ = static_cast<std::byte*>(storage->data()) + room;
  }
  std::byte* place = chunk_next_;
  chunk_next_ += bytes;
  return place;
}

// record() and the end of a tape are most of what a tiny op costs: their parts are inlined into them.
[[gnu::always_inline]] inline void Tape::attach(Record& record, TensorRefs inputs, TensorRefs outputs,
                                                TensorRefs saved) const {
  Node** node = record.nodes();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    *node = inputs[i];
    retain_on_tape(*node++);
  }
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    Node* output = outputs[j];
    retain_on_tape(output);
    if (output->dtype != i64) {
      output->wants_gradient = output->awaits_gradient = true;
      output->tape = serial_;
    }
    *node++ = output;
  }
  SavedValue* value = reinterpret_cast<SavedValue*>(node);  // saved_list()
  for (std::size_t k = 0; k < saved.size(); ++k, ++value) {
    Node* of = saved[k];
    if (of == nullptr) {
      new (value) SavedValue;
      continue;
    }
    retain_on_tape(of);
    retain(of->storage);
    new (value) SavedValue{of, of->storage, of->offset, of->storage->version};
  }
  if (options_.keep)
    for (int i = 0; i < record.inputs_ + record.outputs_; ++i) retain_handle(record.nodes()[i]);
}

void* Tape::record(const OpInfo& op, BackwardFunction backward, TensorRefs inputs, TensorRefs outputs, TensorRefs saved,
                   std::size_t attribute_bytes, void (*destroy_attributes)(void*)) {
  Tape* const tape = current_tape;
  if (tape == nullptr || tape->closed_ || !tape->wants(op, inputs)) return nullptr;
  for (std::size_t j = 0; j < outputs.size(); ++j) checked(outputs[j], op, "output", j);
  if (tape->options_.check_finite) tape->check_outputs_finite(op, outputs);
  const ScopeEntry* scope = Scope::innermost_ == nullptr ? nullptr : tape->current_scope();
  const std::size_t lists =
      aligned((inputs.size() + outputs.size()) * sizeof(Node*) + saved.size() * sizeof(SavedValue));
  std::byte* place =
      static_cast<std::byte*>(tape->allocate(aligned(sizeof(Record)) + lists + aligned(attribute_bytes)));
  Record* record = new (place) Record;
  record->op_ = &op;
  record->backward_ = backward;
  record->previous_ = tape->last_;
  record->scope_ = scope;
  record->attributes_ = place + aligned(sizeof(Record)) + lists;
  record->destroy_attributes_ = destroy_attributes;
  record->index_ = tape->size_++;
  record->inputs_ = static_cast<std::int32_t>(inputs.size());
  record->outputs_ = static_cast<std::int32_t>(outputs.size());
  record->saved_ = static_cast<std::int32_t>(saved.size());
  tape->last_ = record;
  tape->attach(*record, inputs, outputs, saved);
  return record->attributes_;
}

void Tape::check_outputs_finite(const OpInfo& op, TensorRefs outputs) const {
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    const Node& node = *outputs[j];
    if (!all_finite(
            static_cast<std::byte*>(node.storage->data()) + static_cast<std::size_t>(node.offset) * size_of(node.dtype),
            node.numel(), node.dtype))
      throw TapeError(text(op.name, ": ", describe_at("output", j, Tensor::of(*outputs[j])), " of record ", size_,
                           " is not finite (check_finite is on); look at its inputs"));
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
    scope->entry_ = new (allocate(aligned(sizeof(ScopeEntry)))) ScopeEntry{nullptr, scope->module_, scope->label_};
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
