#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>

#include <utility>

namespace retrace {
namespace {

class TreeBuilder final : public JsonEvents {
 public:
  JsonValue root;

  void start_object() override { open(JsonValue{JsonValue::Object()}); }
  void key(std::string key) override { key_.back() = std::move(key); }
  void end_object() override { close(); }
  void start_array() override { open(JsonValue{JsonValue::List()}); }
  void end_array() override { close(); }
  void string(std::string text) override { add(JsonValue{std::move(text)}); }
  void unsigned_integer(std::uint64_t number) override {
    if (std::in_range<std::int64_t>(number))
      add(JsonValue{static_cast<std::int64_t>(number)});
    else
      add(JsonValue{static_cast<double>(number)});
  }
  void negative_integer(std::int64_t number) override { add(JsonValue{number}); }
  void number(double number) override { add(JsonValue{number}); }
  void boolean(bool value) override { add(JsonValue{value}); }
  void null() override { add(JsonValue()); }

 private:
  JsonValue& add(JsonValue value) {
    if (open_.empty()) return root = std::move(value);
    if (auto* list = std::get_if<JsonValue::List>(&open_.back()->value)) return list->emplace_back(std::move(value));
    return std::get<JsonValue::Object>(open_.back()->value)[key_.back()] = std::move(value);
  }
  // A list that is open grows only at its end, and the open value in it is its last: the pointers stay valid.
  void open(JsonValue value) {
    open_.push_back(&add(std::move(value)));
    key_.emplace_back();
  }
  void close() {
    open_.pop_back();
    key_.pop_back();
  }
  std::vector<JsonValue*> open_;
  std::vector<std::string> key_;  // the last one of each
};

}  // namespace

JsonValue read_json_tree(std::string_view text) {
  TreeBuilder builder;
  read_json(text, builder);
  return std::move(builder.root);
}

}  // namespace retrace
