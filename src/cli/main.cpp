#include "cli/command_line.hpp"

int main(int argc, char** argv) { return dadsim::cli::run_command_line(argc, argv); }
