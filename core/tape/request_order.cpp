#include <retrace/core/tape/request_order.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <retrace/core/tape/op_info.h>
#include <retrace/core/tensor/memory.h>
#include <retrace/core/tensor/node.h>

namespace retrace {
namespace {

struct Begun {
  int input;
  TensorInfo* info;
};
struct GivenAway {
  int place;
  const SavedValue* value;
};
template <class T> using PoolVector = std::vector<T, PoolAllocator<T>>;  // a step takes nothing from the heap
struct Requests {
  const OpInfo* op = nullptr;
  PoolVector<GivenAway> given_away = {};
  PoolVector<Begun> begun = {};
};
thread_local Requests requests;

// A NaN that no arithmetic gives, as every element of a gradient that is not written yet.
constexpr unsigned char unwritten = 0xff;

bool is_written(TensorInfo* info) {
  const auto* bytes = static_cast<const unsigned char*>(node_of(info)->gradient->data());
  return std::any_of(bytes, bytes + node_of(info)->bytes(), [](unsigned char byte) { return byte != unwritten; });
}

}  // namespace

RequestOrder::RequestOrder(const OpInfo& op) { requests.op = &op; }
RequestOrder::~RequestOrder() { requests = {}; }

void RequestOrder::note_given_away(int k, const SavedValue& value) {
  if (requests.op != nullptr) requests.given_away.push_back({k, &value});
}

void RequestOrder::check_readable(const SavedValue& value) {
  for (const GivenAway& given : requests.given_away)
    if (given.value == &value)
      throw TapeError(text("backward: ", requests.op->name, " asked for the values of saved value ", given.place,
                           " after tensor_over_saved() had given their buffer away; read them first"));
}

void RequestOrder::note_begun(int i, TensorInfo* input) {
  if (requests.op == nullptr) return;
  std::memset(node_of(input)->gradient->data(), unwritten, node_of(input)->bytes());
  requests.begun.push_back({i, input});
}

void RequestOrder::check_written(int i, TensorInfo* input) {
  for (const Begun& begun : requests.begun)
    if (begun.info == input && begun.input != i && input->numel() > 0 && !is_written(input))
      throw TapeError(text("backward: ", requests.op->name, " asked for the gradient of input ", i,
                           ", which is the same tensor as input ", begun.input,
                           ", before it had written that one; ask for an input just before writing it"));
}

}  // namespace retrace
