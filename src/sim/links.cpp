#include "sim/links.hpp"

#include <algorithm>

#include "sim/links/families.hpp"

namespace dadsim {

const std::vector<LinkSpec>& link_catalog() {
  static const std::vector<LinkSpec> catalog = [] {
    std::vector<LinkSpec> all;
    for (const auto& family : {links::inside_node(), links::rdma(), links::ethernet(), links::access_lines()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return catalog;
}

const LinkSpec* find_link(const std::string& name) {
  const auto entry = std::ranges::find(link_catalog(), name, &LinkSpec::name);
  return entry == link_catalog().end() ? nullptr : &*entry;
}

}  // namespace dadsim
