#include <retrace/benchmarks/gradbench/protocol.h>
#include <retrace/models/checks/json_tensor.h>

namespace retrace::gradbench {

void Answer::write(JsonWriter& json) const {
  if (value.defined()) return write_tensor(json, value);
  json.begin_object();
  for (const auto& [name, member] : members) member.write(json.key(name));
  json.end_object();
}

}  // namespace retrace::gradbench
