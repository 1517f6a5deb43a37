#include "cli/import_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/arguments.hpp"
#include "cli/print.hpp"
#include "cli/usage_error.hpp"
#include "support/atomic_file.hpp"
#include "support/file_identity.hpp"
#include "support/terminal.hpp"

namespace dadsim::cli {

void refuse_other_options(const po::variables_map& values, const std::vector<std::string>& allowed, const char* what) {
  const std::vector<std::string> always{"positional", "out", "quiet", "help", "color"};
  for (const auto& [name, value] : values) {
    if (std::ranges::find(allowed, name) == allowed.end() && std::ranges::find(always, name) == always.end())
      throw UsageError(fmt::format("--{} has no effect on {}; remove it", name, what));
  }
}

std::string name_in_document(const po::variables_map& values, const std::string& option) {
  const std::string file = text_of(values, option.c_str());
  if (file.empty() || file == "-")
    throw UsageError(fmt::format("--{} FILE is missing; add it, since the element names the file", option));
  if (has_hidden_characters(file))
    throw UsageError(fmt::format("--{} '{}' has characters that XML does not allow; use another name", option,
                                 with_hidden_characters_shown(file)));
  namespace fs = std::filesystem;
  const std::string out = text_of(values, "out");
  if (out.empty() || descriptor_of(out) || fs::path(file).is_absolute()) return file;
  return fs::absolute(file).lexically_normal().lexically_relative(fs::absolute(out).lexically_normal().parent_path());
}

void write_import(const po::variables_map& values, const std::string& text, const std::string& words) {
  const std::string out = text_of(values, "out");
  const bool to_file = !out.empty() && out != "-";
  write_file_atomically(to_file ? out : "-", text);
  if (values.contains("quiet")) return;
  // The message goes to standard output only if the result does not.
  if (to_file) return print(words);
  say(words);
}

}  // namespace dadsim::cli
