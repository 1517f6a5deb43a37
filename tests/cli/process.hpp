#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

namespace dadsim::test {

/// Outcome of running the dadsim program.
struct Outcome {
  int exit_code = -1;  ///< 128 + the number of the signal, if a signal killed the program
  std::string out, err;
};

/// Returns the processor seconds of all children that have ended. Unlike wall-clock time, they do not grow on a busy
/// machine.
inline double cpu_seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Runs `body` in a child process, which ends with the returned exit code; optionally interrupts it after some time.
template <class Body>
Outcome run_child(const Body& body, std::chrono::milliseconds interrupt_after = {}) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe(out.data()) != 0 || ::pipe(err.data()) != 0) throw std::runtime_error("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int descriptor : {out[0], out[1], err[0], err[1]}) ::close(descriptor);
    ::_exit(body());
  }
  ::close(out[1]);
  ::close(err[1]);
  std::thread interrupter;
  if (interrupt_after.count() > 0) {
    interrupter = std::thread([child, interrupt_after] {
      std::this_thread::sleep_for(interrupt_after);
      ::kill(child, SIGINT);
    });
  }
  Outcome outcome;
  std::array<pollfd, 2> streams{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  int open = 2;
  while (open > 0) {
    ::poll(streams.data(), streams.size(), -1);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd < 0 || streams[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = ::read(streams[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        (i == 0 ? outcome.out : outcome.err).append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        ::close(streams[i].fd);
        streams[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (interrupter.joinable()) interrupter.join();
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// Returns the arguments of a command line in the form of main().
inline std::vector<char*> words_of(std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  return words;
}

/// Runs the program with these arguments in `folder`; optionally interrupts it after some time.
inline Outcome run_dadsim(std::vector<std::string> arguments, const std::filesystem::path& folder = DADSIM_SOURCE_DIR,
                          std::chrono::milliseconds interrupt_after = {},
                          const std::map<std::string, std::string>& environment = {}) {
  arguments.insert(arguments.begin(), DADSIM_BINARY);
  return run_child(
      [&] {
        if (::chdir(folder.c_str()) != 0) return 127;
        for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
        ::execv(DADSIM_BINARY, words_of(arguments).data());
        return 127;
      },
      interrupt_after);
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Adds overrides that make a shipped scenario small enough for a test.
inline std::vector<std::string> small(std::vector<std::string> arguments) {
  for (const char* change : {"data.digits.train=600", "data.digits.test=200", "training.epochs=2"}) {
    arguments.emplace_back("--set");
    arguments.emplace_back(change);
  }
  return arguments;
}

}  // namespace dadsim::test
