#include <retrace/core/base/subnormals.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace retrace {

#if defined(__SSE__)

namespace {
constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;  // bits of the control register
constexpr unsigned flush = flush_results | flush_operands;

void set(Subnormals mode) { _mm_setcsr(mode == Subnormals::flushed ? _mm_getcsr() | flush : _mm_getcsr() & ~flush); }
}  // namespace

Subnormals subnormals() { return (_mm_getcsr() & flush) == flush ? Subnormals::flushed : Subnormals::kept; }

#else

namespace {
void set(Subnormals) {}
}  // namespace

Subnormals subnormals() { return Subnormals::kept; }

#endif

SubnormalsScope::SubnormalsScope(Subnormals mode) : before_(subnormals()) { set(mode); }
SubnormalsScope::~SubnormalsScope() { set(before_); }

}  // namespace retrace
