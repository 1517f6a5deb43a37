#include "cli/import_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/print.hpp"
#include "cli/usage_error.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {

namespace po = boost::program_options;

std::string content_to_import(const std::string& path, const char* form) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw InputError({path, 0, "is a folder", form});
  if (std::optional<std::string> text = whole_file(path)) return std::move(*text);
  throw InputError({path, 0, fmt::format("cannot be read: {}", std::strerror(errno)), form});
}

void refuse_other_options(const po::variables_map& values, const std::vector<std::string>& allowed, const char* what) {
  const std::vector<std::string> always{"positional", "out", "quiet", "help", "color"};
  for (const auto& [name, value] : values) {
    if (std::ranges::find(allowed, name) == allowed.end() && std::ranges::find(always, name) == always.end())
      throw UsageError(fmt::format("--{} means nothing of {}", name, what));
  }
}

void write_import(const po::variables_map& values, const std::string& text, const std::string& words) {
  const std::string out = text_of(values, "out");
  const bool to_file = !out.empty() && out != "-";
  write_file_atomically(to_file ? out : "-", text);
  if (values.contains("quiet")) return;
  // What was made goes alone to standard output where it is to be taken from there.
  if (to_file) return print(words);
  say(words);
}

}  // namespace dadsim::cli
