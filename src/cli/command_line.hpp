#pragma once

#include <stdexcept>
#include <string_view>

namespace dadsim::cli {

/// Message if this process runs out of memory; the exit code is 1.
inline constexpr std::string_view kOutOfMemory =
    "dadsim: out of memory; fewer workers, a smaller network or less data would fit";

/// Returns true if the exception is oneTBB's for a thread that the system denied; oneTBB has no separate type for it.
bool denies_thread(const std::runtime_error& error);

/// Runs the program: parses the command line, runs the command, and turns every error into a message and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace dadsim::cli
