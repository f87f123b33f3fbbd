// Parses formulas in the notation of core/tape/op_info.h, and reports where one violates it.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include <retrace/core/base/error.h>

namespace retrace {

class FormulaReader {
 public:
  /// Parses a list of equations. Throws ValueError, with the remaining text, where they violate the notation.
  FormulaReader(std::string_view formulas, std::set<std::string> names) : rest_(formulas), names_(std::move(names)) {
    do item();
    while (take(", "));
    if (!rest_.empty()) fail("the end");
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const { throw ValueError(text(wanted, " before: ", rest_)); }
  bool sees(std::string_view token) const { return rest_.substr(0, token.size()) == token; }
  bool take(std::string_view token) {
    if (!sees(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) fail(text("'", token, "'"));
  }
  bool sees_letter() const { return !rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_[0])) != 0; }
  bool sees_digit() const { return !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0; }

  std::string word() {
    std::string result;
    while (!rest_.empty() && (std::isalnum(static_cast<unsigned char>(rest_[0])) != 0 || rest_[0] == '_')) {
      if (rest_[0] == '_' && (result == "sum" || result == "prod")) break;  // sum_k is sum, for each k
      result += rest_[0];
      rest_.remove_prefix(1);
    }
    if (result.empty()) fail("a name");
    if (take("'")) result += "'";
    return result;
  }
  // Short names are free; a longer one must be an input, its gradient, a function or a part of one.
  void check_name(std::string name) const {
    if (name.ends_with("'")) name.pop_back();
    while (std::isdigit(static_cast<unsigned char>(name.back())) != 0 && !names_.contains(name)) name.pop_back();
    const std::string whole = name.substr(0, name.find('_'));
    if (whole.size() > 2 && !names_.contains(name) && !names_.contains(name.substr(1)) && !names_.contains(whole))
      throw ValueError(text("'", name, "' is no name"));
  }

  void item() {
    if (take("...")) return;
    if (take("for each ")) {
      word();
      take(" backwards");
      return;
    }
    target();
    if (take(" in {")) {
      expression();
      while (take(", ")) expression();
      return need("}");
    }
    if (!take(" = ")) need(" += ");
    pieces();
    along();
  }
  void target() {
    if (take("[")) {
      check_name(word());
      while (take("; ")) check_name(word());
      return need("]");
    }
    check_name(word());
    if (sees("[")) index();
  }
  bool begins_an_item() {
    const std::string_view here = rest_;
    bool begins = false;
    try {
      begins = take("...") || take("for each ") || (target(), sees(" = ") || sees(" += ") || sees(" in {"));
    } catch (const ValueError&) {
    }
    rest_ = here;
    return begins;
  }
  void pieces() {
    expression();
    if (!take(" where ")) return;
    condition();
    while (sees(", ")) {
      const std::string_view here = rest_;
      take(", ");
      if (take("else ")) return expression();
      if (begins_an_item()) {
        rest_ = here;
        return;
      }
      expression();
      need(" where ");
      condition();
    }
  }
  void along() {
    if (take(" along no axis")) return;
    const bool one = take(" along axis ");
    if (!one && !take(" along axes ")) return;
    do {
      take("-");
      if (!sees_digit()) fail("an axis");
      number();
    } while (!one && take(" and "));
  }
  void condition() {
    expression();
    while (take(" = ") || take(" != ") || take(" < ") || take(" > ") || take(" <= ") || take(" >= ")) expression();
  }
  void expression() {
    take("-");
    quotient();
    while (take(" + ") || take(" - ")) quotient();
  }
  void quotient() {
    product();
    while (take(" / ")) product();
  }
  bool continues() const {
    if (!sees(" ")) return false;
    const std::string_view next = rest_.substr(1);
    for (const char* word :
         {"+ ", "- ", "/ ", "= ", "+= ", "!= ", "< ", "> ", "<= ", ">= ", "where ", "along ", "in {"})
      if (next.substr(0, std::string_view(word).size()) == word) return false;
    return true;
  }
  void product() {
    factor();
    while (continues()) {
      need(" ");
      factor();
    }
  }
  void factor() {
    primary();
    if (!take("^")) return;
    if (take("T")) return;
    take("-");
    primary();
  }
  void number() {
    while (sees_digit() || sees(".")) rest_.remove_prefix(1);
    if (!take("e-") && !take("e+")) return;
    while (sees_digit()) rest_.remove_prefix(1);
  }
  void primary() {
    if (sees_digit()) return number();
    if (take("(")) {
      expression();
      return need(")");
    }
    if (take("|")) {
      expression();
      return need("|");
    }
    if (take("[")) return bracket();
    const std::string name = word();
    check_name(name);
    if (name == "sum" || name == "prod") {
      if (take("_(")) {
        condition();
        need(")");
      } else if (take("_")) {
        word();
      }
      return reduced();
    }
    if (take("(")) return arguments();
    if (name == "mean" || name == "max" || name == "min") return reduced();
    static const std::set<std::string> functions{"tanh", "ln", "sqrt", "sin", "cos", "sigmoid"};
    if (functions.contains(name)) {
      need(" ");
      return factor();
    }
    if (sees("[")) index();
  }
  void reduced() {
    need(" ");
    product();
  }
  // A condition, a shape, or parts one after the other.
  void bracket() {
    if (take("]")) return;
    condition();
    while (take(", ") || take("; "))
      if (!take("...")) expression();
    need("]");
  }
  void arguments() {
    do {
      if (!take("["))
        expression();
      else
        bracket();
    } while (take(", "));
    need(")");
    if (sees("[")) index();
  }
  void index() {
    need("[");
    do {
      if (take("...") || take("new")) continue;
      if (!sees(":")) expression();
      while (take(":")) {
        if (sees("-") || sees_digit()) expression();
      }
    } while (take(", "));
    need("]");
  }

  std::string_view rest_;
  std::set<std::string> names_;
};

}  // namespace retrace
