#include <retrace/models/cli/cli.h>
#include <unistd.h>

#include <iostream>

int main(int argc, char** argv) {
  return retrace::run_cli(argc, argv, std::cout, std::cerr, isatty(STDERR_FILENO) != 0);
}
