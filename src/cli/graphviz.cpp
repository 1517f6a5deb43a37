#include "cli/graphviz.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "support/interrupt.hpp"
#include "support/output_error.hpp"

namespace dadsim::cli {
namespace {

constexpr int kNotStarted = 127;       // exit code of a shell for a program that could not be started
constexpr unsigned kLookAgain = 5000;  // microseconds between checks of the program

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Uses an unnamed file, because writing to a pipe could block.
File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) throw OutputError(fmt::format("cannot make a temporary file for the picture: {}", std::strerror(errno)));
  return file;
}

/// Starts the program with these file descriptors as standard streams. The program ends with this process.
pid_t start(const std::string& program, const std::array<int, 3>& streams) {
  std::string name = "dot";
  std::string format = "-Tsvg";
  const std::array<char*, 3> arguments{name.data(), format.data(), nullptr};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw OutputError(fmt::format("{} could not be started: {}", program, std::strerror(errno)));
  if (child > 0) return child;
  // From here on only async-signal-safe calls are allowed, because other threads may have held locks at the fork.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotStarted);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  for (int i = 0; i < 3; ++i) ::dup2(streams[static_cast<std::size_t>(i)], i);
  ::execve(program.c_str(), arguments.data(), environ);
  ::_exit(kNotStarted);
}

std::string content_of(std::FILE* file) {
  std::string content;
  std::array<char, 65536> chunk{};
  std::rewind(file);
  for (std::size_t got = 0; (got = std::fread(chunk.data(), 1, chunk.size(), file)) > 0;)
    content.append(chunk.data(), got);
  return content;
}

}  // namespace

std::string find_dot() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    std::string candidate = fmt::format("{}/dot", rest.substr(0, colon));
    if (colon > 0 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  throw OutputError(
      "a picture needs the program 'dot', which is not in PATH; install the package graphviz, or write a "
      "description with 'dadsim platform --dot' and draw it elsewhere");
}

std::string draw_svg(const std::string& dot, const std::string& source) {
  const File in = temporary_file();
  const File out = temporary_file();
  const File complaints = temporary_file();
  if (std::fwrite(source.data(), 1, source.size(), in.get()) != source.size() || std::fflush(in.get()) != 0) {
    throw OutputError(fmt::format("cannot write the picture's description to {}: {}", dot, std::strerror(errno)));
  }
  std::rewind(in.get());
  const pid_t child = start(dot, {::fileno(in.get()), ::fileno(out.get()), ::fileno(complaints.get())});
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    if (interrupted().load()) ::kill(child, SIGKILL);
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) throw OutputError(fmt::format("{} ended without an exit status", dot));
    if (ended == 0) ::usleep(kLookAgain);
  }
  if (interrupted().load()) throw Cancelled();
  std::string svg = content_of(out.get());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || svg.empty()) {
    const std::string message = content_of(complaints.get());
    throw OutputError(fmt::format("{} could not draw the platform{}{}", dot, message.empty() ? "" : ": ",
                                  message.substr(0, message.find('\n'))));
  }
  return svg;
}

}  // namespace dadsim::cli
