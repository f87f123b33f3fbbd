// How programs that use Retrace have to be compiled.
#pragma once

#include <version>

#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "Retrace throws its errors and uses dynamic_cast: compile without -fno-exceptions and -fno-rtti"
#endif

namespace retrace::detail {

// With _GLIBCXX_DEBUG, std::vector has another layout. The interface has vectors, so the library and the program have
// to be compiled with the same setting. Each translation unit refers to the function of its own one, which the library
// has only if it was compiled alike: a mixture is an error of the linker, which shows the name.
#ifdef _GLIBCXX_DEBUG
void the_program_is_compiled_with_GLIBCXX_DEBUG_and_the_Retrace_library_without_it();
[[gnu::used]] inline constexpr auto debug_containers =
    &the_program_is_compiled_with_GLIBCXX_DEBUG_and_the_Retrace_library_without_it;
#else
void the_Retrace_library_is_compiled_with_GLIBCXX_DEBUG_and_the_program_without_it();
[[gnu::used]] inline constexpr auto plain_containers =
    &the_Retrace_library_is_compiled_with_GLIBCXX_DEBUG_and_the_program_without_it;
#endif

}  // namespace retrace::detail
