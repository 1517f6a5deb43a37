#include "study/setting/meant_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/platform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

std::string meant_name(spec::NameKind kind, const std::string& option, const std::string& typed,
                       const std::vector<std::string>& names, const std::string& unknown,
                       std::vector<report::Statement>& taken, const std::string& usual) {
  const spec::NameMeant meant = spec::name_meant(kind, typed, names, usual);
  if (meant.name.empty()) {
    const bool is_family = std::ranges::find(names, typed) != names.end();
    throw InputError(Diagnostic{option, 0,
                                fmt::format("'{}' {}", typed, is_family ? "has many sizes" : "is " + unknown),
                                remedy_for_name(kind, meant)});
  }
  if (!meant.why.empty()) taken.push_back(report::Statement{"near-name", {typed, meant.name}}.with("why", meant.why));
  return meant.name;
}

std::vector<std::string> names_of_links() {
  std::vector<std::string> names;
  for (const spec::LinkSpec& link : sim::link_catalog()) names.push_back(link.name);
  return names;
}

}  // namespace dadsim::study
