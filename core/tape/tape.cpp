#include <retrace/core/tape/observer.h>
#include <retrace/core/tape/passed_record.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/node.h>

#include <algorithm>
#include <atomic>

namespace retrace {
namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

thread_local constinit Tape* Tape::innermost_ = nullptr;

Tape::Tape(TapeOptions options)
    : options_(options),
      watched_(options.keep || TapeObserver::current() != nullptr),
      serial_(next_serial()),
      outer_(innermost_) {
  innermost_ = this;
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
  if (innermost_ == this) innermost_ = outer_;
  for (Record* record = last_; record != nullptr; record = record->previous_) release_record(*record);
  for (; kept_ != nullptr; kept_ = kept_->next) release_from_tape(node_of(kept_->node));
}

Tape* Tape::current() { return innermost_ != nullptr && !innermost_->closed_ ? innermost_ : nullptr; }

std::vector<const Record*> Tape::records() const {
  std::vector<const Record*> result(static_cast<std::size_t>(size_));
  std::size_t k = result.size();
  for (const Record* record = last_; record != nullptr; record = record->previous_) result[--k] = record;
  return result;
}

NoTape::NoTape() : suspended_(Tape::innermost_) { Tape::innermost_ = nullptr; }
NoTape::~NoTape() { Tape::innermost_ = suspended_; }

}  // namespace retrace
