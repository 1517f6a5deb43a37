#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/process.hpp"

namespace dadsim::test {

/// Runs the program with a terminal of this many columns as standard output and error. Returns both together, with the
/// line ends of files.
inline Outcome run_on_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                               const std::filesystem::path& folder = DADSIM_SOURCE_DIR,
                               const std::map<std::string, std::string>& environment = {}) {
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 24;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty");
  if (child == 0) {
    for (const char* name : {"COLUMNS", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (::chdir(folder.c_str()) != 0) ::_exit(127);
    std::string binary = DADSIM_BINARY;
    std::vector<char*> argv{binary.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    ::execv(binary.c_str(), argv.data());
    ::_exit(127);
  }
  Outcome outcome;
  std::array<char, 65536> buffer{};
  // Once the program has closed its terminal, reading gives an error.
  for (ssize_t count = 0; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;)
    outcome.out.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::erase(outcome.out, '\r');
  return outcome;
}

}  // namespace dadsim::test
