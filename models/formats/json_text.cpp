#include <retrace/models/formats/json_text.h>

namespace retrace {

JsonText::JsonText(const JsonObject& object) : text_(object.text()) {}

void JsonObject::add(std::string_view name, const JsonText& value) {
  if (!members_.empty()) members_ += ',';
  members_ += JsonText(name).text() + ":" + value.text();
}

void JsonObject::add(const JsonObject& others) {
  if (!members_.empty() && !others.members_.empty()) members_ += ',';
  members_ += others.members_;
}

}  // namespace retrace
