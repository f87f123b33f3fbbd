#include <retrace/core/subnormals.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace retrace {
namespace {

#if defined(__SSE__)
constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;  // bits of the control register
constexpr unsigned flush = flush_results | flush_operands;

void set(Subnormals mode) { _mm_setcsr(mode == Subnormals::flushed ? _mm_getcsr() | flush : _mm_getcsr() & ~flush); }
#else
void set(Subnormals) {}
#endif

}  // namespace

#if defined(__SSE__)
Subnormals subnormals() { return (_mm_getcsr() & flush) == flush ? Subnormals::flushed : Subnormals::kept; }
#else
Subnormals subnormals() { return Subnormals::kept; }
#endif

SubnormalsScope::SubnormalsScope(Subnormals mode) : before_(subnormals()) { set(mode); }
SubnormalsScope::~SubnormalsScope() { set(before_); }

}  // namespace retrace
