#pragma once

#include <stdexcept>
#include <string_view>

namespace dadsim::cli {

/// What is said, with exit code 1, where memory is denied to this process.
inline constexpr std::string_view kOutOfMemory =
    "dadsim: out of memory; fewer workers, a smaller network or less data would fit";

/// Whether this is how oneTBB says that the system denies it a thread: it has no type of its own for that.
bool denies_thread(const std::runtime_error& error);

/// The whole program: parses the command line, does what it says, turns every error into a message and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace dadsim::cli
