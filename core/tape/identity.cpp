#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/recording.h>

namespace retrace {
namespace {

constexpr OpInfo identity_info{"identity", "y = x", "dx = dy", "x"};
void identity_backward(Record& r) { r.pass(0, 0); }

}  // namespace

Tensor identity(const Tensor& x) {
  check_defined("identity", x, "x");
  Tensor y = x.clone();
  record(identity_info, identity_backward, {&x}, {&y});
  return y;
}

}  // namespace retrace
