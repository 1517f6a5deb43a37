#include "cli/dask_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cli/python_program.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/input_files.hpp"
#include "support/wire.hpp"

namespace dadsim::cli {
namespace {

/// What the process of Python asks. Each question is a frame, and so is its answer: the length in 8 bytes, then that.
enum class Question : char { about = 'a', next = 'n', state = 's', take = 't', put_back = 'b', fail = 'f' };

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
  std::array<int, 2> ends{-1, -1};  ///< to read, to write
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("no pipe to Python: {}", std::strerror(errno)));
  }
};

}  // namespace

DaskClient::DaskClient(const std::string& scheduler, const std::string& scenario, study::TaskQueue& queue)
    : scenario_(std::filesystem::absolute(scenario).string()), queue_(queue) {
  prefer_module_beside_program();
  const Pipe questions;
  const Pipe answers;
  std::vector<std::string> words{python_program(), "-m", "dadsim.remote", scheduler};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, answers.ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, questions.ends[1], STDOUT_FILENO);
  const int failed = ::posix_spawnp(&child_, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(answers.ends[0]);
  ::close(questions.ends[1]);
  questions_ = questions.ends[0];
  answers_ = answers.ends[1];
  if (failed != 0) {
    ::close(questions_);
    ::close(answers_);
    throw EnvironmentError(fmt::format(
        "'{}' cannot be started: {}; Debian's python3-distributed and the Python module of dadsim, or DADSIM_PYTHON",
        words.front(), std::strerror(failed)));
  }
  thread_ = std::thread([this] { serve(); });
}

DaskClient::~DaskClient() {
  queue_.close();
  thread_.join();  // it ends as the process does, which ends where the queue is closed
  ::close(questions_);
  ::close(answers_);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void DaskClient::serve() {
  while (const std::optional<std::string> question = read_frame(questions_)) {
    std::string told;
    try {
      told = answer(*question);
    } catch (const InputError& error) {
      queue_.fail(error.what(), true);
    } catch (const std::exception& error) {
      queue_.fail(error.what(), false);
    }
    if (!write_frame(answers_, told)) break;
  }
  queue_.fail("the process that hands work to Dask has ended, and said why above", false);
}

std::string DaskClient::answer(std::string_view question) {
  WireReader asked(question);
  WireWriter told;
  switch (static_cast<Question>(asked.read<char>())) {
    case Question::about:
      told(build(), scenario_, noted_inputs());
      break;
    case Question::next: {
      const auto most = asked.read<std::uint64_t>();
      const study::TaskQueue::Piece piece = queue_.next(most, asked.read<double>());
      told(piece.id, std::uint64_t{piece.tasks}, std::uint64_t{piece.open}, queue_.closed(), piece.bytes, piece.states);
      break;
    }
    case Question::state:
      told(queue_.state(asked.read<std::string>()));
      break;
    case Question::take: {
      const auto piece = asked.read<std::uint64_t>();
      const auto results = asked.read<std::string>();
      queue_.take(piece, results, asked.read<std::string>());
      break;
    }
    case Question::put_back:
      queue_.put_back(asked.read<std::uint64_t>());
      break;
    case Question::fail: {
      const auto is_input = asked.read<bool>();
      queue_.fail(asked.read<std::string>(), is_input);
      break;
    }
    default:
      throw std::out_of_range("no question");
  }
  return told.bytes();
}

}  // namespace dadsim::cli
