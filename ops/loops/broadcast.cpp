#include <retrace/ops/loops/broadcast.h>

namespace retrace {

Broadcast::Broadcast(const Shape& y, std::initializer_list<const Shape*> operands) {
  Offsets elements{};  // of each operand in one step of the axis at hand
  elements.fill(1);
  int used = 0;
  for (int axis = -1; axis >= -y.rank(); --axis) {
    Offsets stride{};
    std::size_t n = 0;
    for (const Shape* operand : operands) {
      const std::int64_t extent = axis >= -operand->rank() ? (*operand)[axis] : 1;
      if (extent != 1) stride[n] = elements[n];
      elements[n++] *= extent;
    }
    if (y[axis] == 1) continue;
    const std::size_t loop = static_cast<std::size_t>(used);
    bool continues = used > 0;  // the loop inside this axis, in every operand
    for (n = 0; continues && n < max_operands; ++n) continues = stride[n] == strides[loop - 1][n] * extents[loop - 1];
    if (continues) {
      extents[loop - 1] *= y[axis];
    } else {
      extents[loop] = y[axis];
      strides[loop] = stride;
      ++used;
    }
  }
  loops = std::max(used, 1);
}

}  // namespace retrace
