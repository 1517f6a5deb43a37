#include "study/setting/ladder_of.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "support/whole_file.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kLadder = "a file that `dadsim scale-study scenario.xml --json FILE` has written";

}  // namespace

spec::ParameterValues settings_of(const spec::RunSpec& run) {
  spec::ParameterValues settings = run.parameters;
  settings["compress"] = run.compress.method;
  for (const auto& [name, value] : run.compress.parameters) settings["compress." + name] = value;
  if (run.compress.method != "none") settings["compress.memory"] = run.compress.memory ? "true" : "false";
  return settings;
}

report::LadderFile read_ladder(const std::string& path) {
  constexpr InputLimit kMost{std::size_t{16} << 20U, kLadder};
  const std::string text = read_input(path, kLadder, kMost);
  try {
    return report::parse_ladder(text);
  } catch (const std::runtime_error& error) {
    throw InputError({path, 0, error.what(), kLadder});
  }
}

std::optional<Fault> fault_of_ladder(const std::string& path) {
  try {
    read_ladder(path);
    return std::nullopt;
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return Fault{fmt::format("{} ('{}')", first.what, path), first.remedy};
  }
}

}  // namespace dadsim::study
