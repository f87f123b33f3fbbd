#include <retrace/nn/optim/number_range.h>

namespace retrace {

std::string NumberRange::rule() const {
  const bool endless = max >= std::numeric_limits<double>::max();
  if (endless && min == any_number.min) return "a finite number";
  if (endless) return open == Open::min ? text("above ", min) : text("a number of ", min, " or more");
  return text(open == Open::min ? "above " : "from ", min, open == Open::max ? " to below " : " to ", max);
}

void throw_outside(const char* owner, const char* option, const std::string& value, const NumberRange& range,
                   const char* remedy) {
  throw ValueError(
      text(owner, ": ", option, " is ", value, "; it has to be ", range.rule(), *remedy == '\0' ? "" : ", ", remedy));
}

}  // namespace retrace
