#include <retrace/models/checks/foreign_program.h>

#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>
#include <retrace/models/checks/json_tensor.h>

#include <memory>
#include <optional>
#include <utility>

namespace retrace {
namespace {

/// One result goes without a name, several by theirs.
struct ResultForm {
  bool has_names = false;
  std::vector<std::string> names = {};
  std::vector<Shape> shapes = {};

  bool operator==(const ResultForm&) const = default;
};

constexpr std::size_t longest_quote = 200;

/// A conversation with the program, which every error quotes.
class Conversation {
 public:
  Conversation(LineProgram& program, std::vector<std::string> names) : program_(program), names_(std::move(names)) {}

  Tensors value(const Tensors& x) {
    ask(x, {});
    ResultForm form;
    const JsonValue& y = member("y", "the result, a number or nested lists");
    Tensors result;
    if (const auto* several = y.get<JsonValue::Object>()) {
      form.has_names = true;
      for (const auto& [name, numbers] : *several) {
        form.names.push_back(name);
        result.push_back(tensor_of(numbers, text("y of '", name, "'")));
      }
    } else {
      result.push_back(tensor_of(y, "y"));
    }
    for (const Tensor& each : result) form.shapes.push_back(each.shape());
    if (form_ && *form_ != form) refuse("y has other names or lengths than in the first answer");
    form_ = std::move(form);
    return result;
  }

  Tensors gradients(const Tensors& x, const Tensors& dy) {
    ask(x, dy);
    const auto* dx = member("dx", "an object with the gradient of each input by its name").get<JsonValue::Object>();
    if (dx == nullptr) refuse("dx is no object; it should be one with the gradient of each input by its name");
    Tensors result(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k].dtype() == i64) continue;
      const auto found = dx->find(names_[k]);
      if (found == dx->end()) refuse(text("dx lacks the gradient of '", names_[k], "'; without one, it is zeros"));
      result[k] = tensor_of(found->second, text("dx of '", names_[k], "'"));
      if (result[k].shape() != x[k].shape())
        refuse(text("dx of '", names_[k], "' is ", result[k].shape(), ", but the input is ", x[k].shape()));
    }
    return result;
  }

 private:
  void ask(const Tensors& x, const Tensors& dy) {
    JsonWriter request;
    request.begin_object().key("x").begin_object();
    for (std::size_t k = 0; k < x.size(); ++k) write_tensor(request.key(names_[k]), x[k]);
    request.end_object();
    if (!dy.empty()) write_cotangent(request.key("dy"), dy);
    answered_ = program_.ask(request.end_object().text());
    try {
      answer_ = read_json_tree(answered_);
    } catch (const JsonError& error) {
      refuse(text("that is not JSON (", error.what(), "); NaN is written as null"));
    }
    const auto* object = answer_.get<JsonValue::Object>();
    if (object == nullptr) refuse("that is no object");
    if (const auto found = object->find("error"); found != object->end())
      if (const auto* why = found->second.get<std::string>())
        throw ProgramError(text("gradcheck: '", program_.command(), "' says: ", *why));
  }

  void write_cotangent(JsonWriter& request, const Tensors& dy) const {
    if (!form_->has_names) return write_tensor(request, dy[0]);
    request.begin_object();
    for (std::size_t j = 0; j < dy.size(); ++j) write_tensor(request.key(form_->names[j]), dy[j]);
    request.end_object();
  }

  const JsonValue& member(const std::string& name, const char* expected) const {
    const auto& object = *answer_.get<JsonValue::Object>();
    const auto found = object.find(name);
    if (found == object.end()) refuse(text("it lacks '", name, "', which should be ", expected));
    return found->second;
  }

  Tensor tensor_of(const JsonValue& numbers, const std::string& what) const {
    try {
      return tensor_from(numbers);
    } catch (const ValueError& error) {
      refuse(text(what, " ", error.what()));
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    const bool is_long = answered_.size() > longest_quote;
    throw ProgramError(text("gradcheck: '", program_.command(), "' answered '", answered_.substr(0, longest_quote),
                            is_long ? " ..." : "", "': ", why));
  }

  LineProgram& program_;
  std::vector<std::string> names_;
  std::optional<ResultForm> form_ = {};
  std::string answered_ = {};
  JsonValue answer_ = {};
};

}  // namespace

ForeignFunction foreign_function(LineProgram& program, const std::vector<std::string>& names) {
  const auto conversation = std::make_shared<Conversation>(program, names);
  return {[=](const Tensors& x) { return conversation->value(x); },
          [=](const Tensors& x, const Tensors& dy) { return conversation->gradients(x, dy); }};
}

}  // namespace retrace
