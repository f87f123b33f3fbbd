#include <retrace/models/cli/cli.h>

int main(int argc, char** argv) { return retrace::run_cli(argc, argv); }
