#include "cli/sweep_elsewhere.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/python_program.hpp"
#include "support/environment_error.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;

/// One word for a shell (POSIX, 2.2.2): between single quotes nothing has a meaning.
std::string word_for_shell(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::strchr("/._-=:,+%@", c) != nullptr;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void become_client_of_dask(const SweepElsewhere& sweep) {
  prefer_module_beside_program();
  std::vector<std::string> words{python_program(), "-m", "dadsim.many", "--on", sweep.scheduler, "--out", sweep.out};
  for (const std::string& change : sweep.overrides) words.insert(words.end(), {"--set", change});
  if (!sweep.csv.empty()) words.insert(words.end(), {"--csv", sweep.csv});
  if (!sweep.report.empty()) words.insert(words.end(), {"--report", sweep.report});
  if (sweep.quiet) words.emplace_back("--quiet");
  words.insert(words.end(), {"--", sweep.scenario});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw EnvironmentError(fmt::format(
      "'{}' cannot be started: {}; Debian's python3-distributed and the Python module of dadsim, or DADSIM_PYTHON",
      words.front(), std::strerror(errno)));
}

std::string commands_of_shards(const SweepElsewhere& sweep, std::int64_t count) {
  const fs::path out = sweep.out;
  const std::string stem = (out.parent_path() / out.stem()).string();
  std::string changes;
  for (const std::string& change : sweep.overrides) changes += " --set " + word_for_shell(change);
  if (!sweep.learned.empty()) changes += " --learned " + word_for_shell(sweep.learned);
  std::string commands, files;
  for (std::int64_t shard = 1; shard <= count; ++shard) {
    const std::string file = word_for_shell(fmt::format("{}-{}-of-{}.sqlite", stem, shard, count));
    commands += fmt::format("dadsim sweep {}{} --shard {}/{} --threads 1 --quiet --out {}\n",
                            word_for_shell(sweep.scenario), changes, shard, count, file);
    files += " " + file;
  }
  return commands + fmt::format("# then: dadsim merge {}{}\n", word_for_shell(sweep.out), files);
}

}  // namespace dadsim::cli
