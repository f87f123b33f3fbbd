#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/record.h>
#include <retrace/core/tensor/op_access.h>

#include <sstream>

namespace retrace {
namespace {

constexpr const char* inputs_attribute = "inputs";

// "x, gamma" as its words.
std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream words(list);
  for (std::string word; words >> word;) {
    if (word.back() == ',') word.pop_back();
    result.push_back(word);
  }
  return result;
}

}  // namespace

Tensor SavedValue::tensor() const {
  retain(storage_);
  return OpAccess::over(storage_, elements_, info_->shape, info_->dtype);
}

Tensor Record::input(int i) const { return OpAccess::handle(*node_of(nodes_[i])); }

Tensor Record::output(int j) const { return OpAccess::handle(*node_of(nodes_[inputs_ + j])); }

Formulas Record::formulas() const {
  if (op_->formulas_of_call != nullptr) return op_->formulas_of_call(*this);
  return {op_->forward, op_->backward};
}

AttributeList Record::attribute_list() const {
  AttributeList list = op_->attributes_of_call == nullptr ? AttributeList() : op_->attributes_of_call(*this);
  std::erase_if(list, [](const Attribute& attribute) { return attribute.name == inputs_attribute; });
  return list;
}

std::vector<std::string> Record::input_names() const {
  std::string list = op_->inputs;
  if (op_->attributes_of_call != nullptr)
    for (const Attribute& attribute : op_->attributes_of_call(*this))
      if (attribute.name == inputs_attribute) list = std::get<std::string>(attribute.value);
  std::vector<std::string> names = words_of(list);
  std::string rest = "x";  // the name of any number of inputs
  if (!names.empty() && names.back().ends_with("...")) {
    rest = names.back().substr(0, names.back().size() - 3);
    names.pop_back();
  }
  const std::size_t count = static_cast<std::size_t>(inputs());
  for (std::size_t first = names.size(); names.size() < count;)
    names.push_back(rest + std::to_string(names.size() - first));
  names.resize(count);  // without the optional inputs that were not given
  return names;
}

}  // namespace retrace
