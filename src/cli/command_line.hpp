#pragma once

namespace dadsim::cli {

/// The whole program: parses the command line, does what it says, turns every error into a message and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace dadsim::cli
