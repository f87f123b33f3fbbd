// Retrace as a tool of GradBench (github.com/gradbench/gradbench).
#include <retrace/benchmarks/gradbench/retrace_tool.h>

int main() { return retrace::gradbench::serve(retrace::gradbench::retrace_tool); }
