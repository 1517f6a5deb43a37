#include "cli/sweep_elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/usage_error.hpp"
#include "support/shell_word.hpp"
#include "support/terminal.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;

/// One word for a shell. Programs that take a command a line would break it at a line feed.
std::string word_of_line(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; };
  if (std::ranges::any_of(text, is_control))
    throw UsageError(fmt::format("--tasks writes a command a line, and '{}' has control characters; another name",
                                 with_hidden_characters_shown(text)));
  return shell_word(text);
}

}  // namespace

std::string commands_of_shards(const SweepElsewhere& sweep, std::int64_t count) {
  const fs::path out = sweep.out;
  const std::string stem = (out.parent_path() / out.stem()).string();
  std::string changes;
  for (const std::string& change : sweep.overrides) changes += " --set " + word_of_line(change);
  if (!sweep.learned.empty()) changes += " --learned " + word_of_line(sweep.learned);
  std::string commands, files;
  for (std::int64_t shard = 1; shard <= count; ++shard) {
    const std::string file = word_of_line(fmt::format("{}-{}-of-{}.sqlite", stem, shard, count));
    commands += fmt::format("dadsim sweep {}{} --shard {}/{} --threads 1 --quiet --out {}\n",
                            word_of_line(sweep.scenario), changes, shard, count, file);
    files += " " + file;
  }
  return commands + fmt::format("# then: dadsim merge {}{}\n", word_of_line(sweep.out), files);
}

}  // namespace dadsim::cli
