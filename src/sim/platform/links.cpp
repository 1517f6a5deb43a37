#include <algorithm>

#include "sim/platform.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim {

const std::vector<spec::LinkSpec>& link_catalog() {
  static const std::vector<spec::LinkSpec> catalog = [] {
    std::vector<spec::LinkSpec> all;
    for (const auto& family : {links::inside_node(), links::rdma(), links::ethernet(), links::access_lines()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return catalog;
}

const spec::LinkSpec* find_link(const std::string& name) {
  const auto entry = std::ranges::find(link_catalog(), name, &spec::LinkSpec::name);
  return entry == link_catalog().end() ? nullptr : &*entry;
}

}  // namespace dadsim::sim
