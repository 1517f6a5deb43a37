#include "cli/dask_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Sets PYTHONPATH: the package built next to this program comes first, then the folders given before. Empty folders
/// are left out, because they would mean the current folder.
void set_module_path() {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  const fs::path own = program.parent_path().parent_path() / "python";
  if (!none && fs::exists(own / "dadsim" / "remote.py", none)) folders.push_back(own.string());
  const std::string said = variable("PYTHONPATH");
  for (const std::string_view folder : split_at(said, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  if (folders.empty()) {
    ::unsetenv("PYTHONPATH");
  } else {
    ::setenv("PYTHONPATH", fmt::format("{}", fmt::join(folders, ":")).c_str(), 1);
  }
}

/// Returns the words of a command that calls `main(argument)` of a module of the Python package `dadsim`. Python is
/// Debian's, or the one in DADSIM_PYTHON. Nothing is imported from the current folder, which may be untrusted. Sets
/// PYTHONPATH so that a package built next to this program takes precedence over an installed one.
std::vector<std::string> python_command(const std::string& module, const std::string& argument) {
  set_module_path();
  const std::string named = variable("DADSIM_PYTHON");
  // Does the same as `python3 -P -m`, which needs Python 3.11.
  const std::string code = fmt::format(
      "import sys\n"
      "sys.path[:] = [folder for folder in sys.path if folder]\n"
      "try:\n"
      "    from dadsim import {0}\n"
      "except ImportError as error:\n"
      "    sys.exit('dadsim: ' + sys.executable + ' cannot import ' + str(error.name) + ', which --on needs; '\n"
      "             'install it (docs/python.md), or set DADSIM_PYTHON to a Python that has it')\n"
      "sys.exit({0}.main(sys.argv[1]))",
      module);
  return {named.empty() ? "/usr/bin/python3" : named, "-c", code, argument};
}

constexpr const char* kEnded = "the process that hands work to Dask has ended; its error is above";

// Questions and answers are frames: the length in 8 bytes, then the content. A question begins with a letter.
bool read_all(int from, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(from, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(to, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

std::optional<std::string> read_frame(int from) {
  std::uint64_t size = 0;
  if (!read_all(from, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  std::string frame(size, '\0');
  if (!read_all(from, frame.data(), frame.size())) return std::nullopt;
  return frame;
}

bool write_frame(int to, const std::string& frame) {
  const std::uint64_t size = frame.size();
  return write_all(to, {reinterpret_cast<const char*>(&size), sizeof size}) && write_all(to, frame);
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};  ///< file descriptors of the reading and the writing end
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("no pipe to Python: {}", std::strerror(errno)));
  }
};

}  // namespace

DaskProcess::DaskProcess(const std::string& scheduler) {
  const Pipe questions, answers, said;
  std::vector<std::string> words = python_command("remote", scheduler);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, answers.ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, questions.ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, said.ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = ::posix_spawnp(&child_, arguments.front(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  for (const int end : {answers.ends[0], questions.ends[1], said.ends[1]}) ::close(end);
  questions_ = questions.ends[0];
  answers_ = answers.ends[1];
  words_ = said.ends[0];
  if (failed == 0) return;
  for (const int end : {questions_, answers_, words_}) ::close(end);
  throw EnvironmentError(
      fmt::format("'{}' cannot be started: {}; install Debian's python3-distributed and the Python module of dadsim, "
                  "or set DADSIM_PYTHON",
                  words.front(), std::strerror(failed)));
}

DaskProcess::~DaskProcess() {
  if (!ended_) ::kill(child_, SIGTERM);
  for (const int end : {questions_, answers_}) ::close(end);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (words_ >= 0) ::close(words_);
}

void DaskProcess::serve(const Answer& answer) {
  constexpr int kLookAgain = 100;  // milliseconds between checks of the Python process
  while (!ended_ && !interrupted().load()) {
    std::array<pollfd, 2> ends{{{questions_, POLLIN, 0}, {words_, POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), kLookAgain) <= 0) continue;
    if (ends[1].revents != 0) pass_words_on();
    if (ends[0].revents == 0) continue;
    const std::optional<std::string> question = read_frame(questions_);
    ended_ = !question;
    if (ended_) break;
    WireReader asked(*question);
    WireWriter told;
    answer(asked.read<char>(), asked, told);
    if (!write_frame(answers_, told.bytes())) break;
  }
  pollfd left{words_, POLLIN, 0};
  for (; ::poll(&left, 1, 0) > 0; left.fd = words_) pass_words_on();
}

void DaskProcess::pass_words_on() {
  std::array<char, 4096> block{};
  const ssize_t got = ::read(words_, block.data(), block.size());
  if (got > 0) unsaid_.append(block.data(), static_cast<std::size_t>(got));
  const std::size_t lines = got > 0 ? unsaid_.rfind('\n') + 1 : unsaid_.size();
  if (lines > 0) say(std::string_view(unsaid_).substr(0, lines));
  unsaid_.erase(0, lines);
  if (got > 0) return;
  ::close(words_);
  words_ = -1;
}

DaskClient::DaskClient(const std::string& scheduler, const std::string& scenario, study::TaskQueue& queue)
    : scenario_(std::filesystem::absolute(scenario).string()), queue_(queue), process_(scheduler) {
  thread_ = std::thread([this] {
    process_.serve([this](char question, WireReader& asked, WireWriter& told) { answer(question, asked, told); });
    if (!interrupted().load()) queue_.fail(kEnded, false);
  });
}

DaskClient::~DaskClient() {
  queue_.close();
  thread_.join();  // waits for the thread: the Python process ends once the queue is closed, and then the thread
}

void DaskClient::answer(char question, WireReader& asked, WireWriter& told) {
  try {
    switch (question) {
      case 'a':
        told(build(), scenario_, noted_inputs());
        break;
      case 'n': {
        const auto most = asked.read<std::uint64_t>();
        const study::TaskQueue::Piece piece = queue_.next(most, asked.read<double>());
        told(piece.id, std::uint64_t{piece.tasks}, std::uint64_t{piece.open}, queue_.closed(), piece.bytes,
             piece.states);
        break;
      }
      case 's':
        told(queue_.state(asked.read<std::string>()));
        break;
      case 't': {
        const auto piece = asked.read<std::uint64_t>();
        const auto results = asked.read<std::string>();
        queue_.take(piece, results, asked.read<std::string>());
        break;
      }
      case 'b':
        queue_.put_back(asked.read<std::uint64_t>());
        break;
      case 'l': {
        const auto piece = asked.read<std::uint64_t>();
        queue_.give_up(piece, asked.read<std::string>());
        break;
      }
      case 'f': {
        const auto is_input = asked.read<bool>();
        queue_.fail(asked.read<std::string>(), is_input);
        break;
      }
      default:
        throw std::out_of_range("no question");
    }
  } catch (const InputError& error) {
    queue_.fail(error.what(), true);
  } catch (const std::exception& error) {
    queue_.fail(error.what(), false);
  }
}

}  // namespace dadsim::cli
