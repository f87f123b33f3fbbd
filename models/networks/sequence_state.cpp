#include <retrace/models/networks/sequence_state.h>

#include <retrace/core/base/error.h>

namespace retrace {

SequenceState SequenceState::detach() const {
  SequenceState result;
  for (const Tensor& part : parts) result.parts.push_back(part.detach());
  return result;
}

Tensors SequenceState::take(std::size_t count) const {
  if (parts.empty()) return Tensors(count);
  if (parts.size() != count)
    throw ShapeError(text("continued: the state has ", parts.size(), " parts and that of this model ", count,
                          "; give the state that this model gave, or an empty one"));
  return parts;
}

}  // namespace retrace
