#include <retrace/benchmarks/gradbench/protocol.h>

namespace retrace::gradbench {
namespace {

// The elements from `place` on, as lists for the axes from `axis` on.
void write_elements(JsonWriter& json, const Tensor& x, int axis, std::size_t& place) {
  if (axis < x.rank()) {
    json.begin_array();
    for (std::int64_t k = 0; k < x.dim(axis); ++k) write_elements(json, x, axis + 1, place);
    json.end_array();
  } else if (x.dtype() == i64) {
    json.value(x.values<std::int64_t>()[place++]);
  } else {
    json.value(x.values<double>()[place++]);
  }
}

}  // namespace

void Answer::write(JsonWriter& json) const {
  if (value.defined()) {
    std::size_t place = 0;
    return write_elements(json, value, 0, place);
  }
  json.begin_object();
  for (const auto& [name, member] : members) member.write(json.key(name));
  json.end_object();
}

}  // namespace retrace::gradbench
