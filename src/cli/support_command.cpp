#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/listings.hpp"
#include "cli/output.hpp"
#include "cli/support_text.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::cli {
namespace {

/// A file for shells, editors or man. `dadsim support NAME` prints it; installation puts it in its usual place.
struct SupportFile {
  std::string name;  ///< name, e.g. "bash"
  std::string what;  ///< description in the usage text
  std::string (*text)();
};

const std::vector<SupportFile>& support_files() {
  static const std::vector<SupportFile> all{
      {"bash", "completion for bash: source <(dadsim support bash)", [] { return std::string(kBashCompletion); }},
      {"zsh", "completion for zsh, as _dadsim in a folder of $fpath", [] { return std::string(kZshCompletion); }},
      {"fish", "completion for fish: dadsim support fish | source", [] { return std::string(kFishCompletion); }},
      {"man", "the manual page: dadsim support man | man -l -", manual_page},
      {"schema", "scenario.xsd, with the names of devices, links, workloads and algorithms", schema_with_names},
      {"catalog", "the XML catalogue with which editors find the installed schema",
       [] { return std::string(kXmlCatalog); }},
  };
  return all;
}

}  // namespace

Command::Names names_of_files() {
  Command::Names names;
  for (const SupportFile& file : support_files()) names.emplace_back(file.name, file.what);
  return names;
}

std::string list_support_files() {
  std::string text;
  for (const SupportFile& file : support_files()) text += fmt::format("  {:<9}{}\n", file.name, file.what);
  return text;
}

void run_support(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values);
  if (operands.size() != 1) throw UsageError("dadsim support takes one name; see dadsim support --help");
  const auto found = std::ranges::find(support_files(), operands[0], &SupportFile::name);
  if (found == support_files().end()) {
    std::vector<std::string> names;
    for (const SupportFile& file : support_files()) names.push_back(file.name);
    throw UsageError(fmt::format("there is no '{}'; {}", operands[0], suggestion(operands[0], names)));
  }
  write_file_atomically("-", found->text());
}

}  // namespace dadsim::cli
