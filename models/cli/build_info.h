// The build of the program: what `retrace --version` says.
#pragma once

#include <string>

namespace retrace {

/// How the program was built. CMake writes it: see build_info.cmake.
struct BuildInfo {
  const char* version;   // of the project: "0.2.0"
  const char* commit;    // of its source, with "-changed" at its end if files differ from that; "unknown" without git
  const char* compiler;  // with its version: "GNU 12.2.0"
};
/// The build of this program.
extern const BuildInfo build_info;

/// Lines with the build, the instruction set of the kernels in use and the number of threads. Throws ValueError for a
/// RETRACE_ISA that this machine does not have.
std::string version_text();

}  // namespace retrace
