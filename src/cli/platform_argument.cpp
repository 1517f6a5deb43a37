#include "cli/platform_argument.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/arguments.hpp"
#include "scenario/document/load.hpp"
#include "scenario/xml/element.hpp"
#include "sim/platform.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::size_t kBeginning = std::size_t{1} << 16U;  // number of leading bytes that must contain the root element

/// Returns true if the root element is <scenario>. Returns false if the file cannot be read; the reader of platforms
/// then reports the reason.
bool is_scenario(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return false;
  const std::string beginning = whole_file(path, kBeginning).value_or("");
  const std::optional<scenario::RootElement> root = scenario::find_root_element(beginning);
  return root && root->name == "scenario";
}

}  // namespace

spec::PlatformSpec load_platform_argument(const std::string& path, std::optional<spec::Transport> transport) {
  const scenario::Catalog catalog = study::make_catalog();
  spec::PlatformSpec platform =
      is_scenario(path) ? load_scenario(path, {}, catalog).platform : scenario::load_platform_file(path, catalog);
  auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (file == nullptr) {
    if (transport) {
      throw UsageError(fmt::format(
          "--transport has no effect on '{}', whose links define their transport; use it with files of SimGrid", path));
    }
    return platform;
  }
  if (transport) file->transport = *transport;
  const sim::PlatformFindings findings = sim::check_platform(platform, {}, {});
  if (!findings.file_errors.empty()) throw InputError(findings.file_errors);
  for (const std::string& warning : sim::passed_over_of(platform)) say(fmt::format("dadsim: warning: {}\n", warning));
  return platform;
}

void check_routes_of_file(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                          const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (file == nullptr) return;
  const sim::PlatformFindings findings = sim::check_platform(platform, hosts, pairs);
  std::vector<Diagnostic> errors = findings.file_errors;
  for (const auto* found : {&findings.host_errors, &findings.route_errors}) {
    for (const std::string& error : *found) {
      if (!error.empty()) errors.push_back({file->path, 0, error, ""});
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

}  // namespace dadsim::cli
