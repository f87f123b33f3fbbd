#include <retrace/core/base/build_mode.h>

namespace retrace::detail {

#ifdef _GLIBCXX_DEBUG
void the_program_is_compiled_with_GLIBCXX_DEBUG_and_the_Retrace_library_without_it() {}
#else
void the_Retrace_library_is_compiled_with_GLIBCXX_DEBUG_and_the_program_without_it() {}
#endif

}  // namespace retrace::detail
