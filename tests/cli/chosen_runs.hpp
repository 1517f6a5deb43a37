#pragma once

#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "cli/process.hpp"

namespace dadsim::test {

/// Returns a shipped scenario with only the runs of these labels; a run without a label is known by its algorithm. The
/// platform's path becomes absolute, so that the file can be written anywhere.
inline std::string with_runs(const std::string& scenario, const std::set<std::string>& labels) {
  const std::string text = read_file(DADSIM_SOURCE_DIR "/scenarios/" + scenario + ".xml");
  static const std::regex kRun(R"(<run ([^>]*[^>/])(/>|>[^]*?</run>)\s*)"), kLabel("label=\"([^\"]*)\""),
      kAlgorithm("algorithm=\"([^\"]*)\""), kPlatforms(R"((\.\./)+platforms/)");
  std::set<std::string> missing = labels;
  std::string kept;
  std::size_t at = 0;
  for (std::sregex_iterator run(text.begin(), text.end(), kRun); run != std::sregex_iterator(); ++run) {
    const auto begin = static_cast<std::size_t>(run->position());
    kept += text.substr(at, begin - at);
    at = begin + static_cast<std::size_t>(run->length());
    const std::string attributes = (*run)[1];
    std::smatch name;
    if (!std::regex_search(attributes, name, kLabel)) std::regex_search(attributes, name, kAlgorithm);
    if (!labels.contains(name[1])) continue;
    missing.erase(name[1]);
    kept += run->str();
  }
  if (!missing.empty()) throw std::runtime_error(scenario + " has no run '" + *missing.begin() + "'");
  return std::regex_replace(kept + text.substr(at), kPlatforms, DADSIM_SOURCE_DIR "/platforms/");
}

}  // namespace dadsim::test
