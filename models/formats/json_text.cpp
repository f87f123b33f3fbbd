#include <retrace/core/base/printable.h>
#include <retrace/models/formats/json_text.h>

#include <nlohmann/json.hpp>

namespace retrace {

// The destructor of a single value does not allocate.
JsonText::JsonText(double number) : text_(nlohmann::json(number).dump()) {}

JsonText::JsonText(std::string_view string)
    : text_(printable_json(nlohmann::json(string).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {}

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
