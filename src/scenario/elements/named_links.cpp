#include "scenario/elements/named_links.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenario/elements/host_list.hpp"
#include "scenario/language/node.hpp"
#include "support/pattern.hpp"

namespace dadsim::scenario {
namespace {

using Link = Catalog::NamedLink;

/// Looks at the links of the platform when the first name is asked for.
class NamedLinks {
 public:
  NamedLinks(const Scenario& scenario, const ReadContext& context) : scenario_(scenario), context_(context) {}

  /// `is_meant`: whether the text means that link; `classes`: it may be a class.
  void check(const Node& node, const char* attribute, const std::string& text, bool classes,
             const std::function<bool(const Link&)>& is_meant) {
    if (!context_.catalog.links_of_platform || text.empty()) return;
    if (!links_) links_ = context_.catalog.links_of_platform(scenario_.platform);
    if (std::ranges::any_of(*links_, is_meant)) return;
    std::set<std::string> known;
    for (const Link& link : *links_) {
      known.insert(link.name);
      if (classes && !link.link_class.empty()) known.insert(link.link_class);
    }
    const std::vector<std::string> names(known.begin(), known.end());
    node.fail_at(attribute,
                 classes ? "fits no link of the platform and no class of links" : "fits no link of the platform",
                 context_.findings.full() ? "" : context_.findings.suggest(text, names));
  }

 private:
  const Scenario& scenario_;
  const ReadContext& context_;
  std::optional<std::vector<Link>> links_;
};

}  // namespace

void check_links_of_failures(const Node& scenario_element, const Scenario& scenario, const ReadContext& context) {
  std::vector<const Element*> all{scenario_element.child("failures")};
  for (const Element* run : scenario_element.children("run"))
    all.push_back(Node(*run, context.findings).child("failures"));
  NamedLinks links(scenario, context);
  for (const Element* failures : all) {
    if (failures == nullptr) continue;
    for (const Element& child : failures->children) {
      if (child.find("links") == nullptr) continue;
      const Node one(child, context.findings);
      const std::string pattern = plain_name(one.text("links", ""));
      links.check(one, "links", pattern, false, [&](const Link& link) { return fits(pattern, link.name); });
    }
  }
}

void check_links_of_costs(const Element& costs, const Scenario& scenario, const ReadContext& context) {
  const Node node(costs, context.findings);
  NamedLinks links(scenario, context);
  for (const Element* line : node.children("line")) {
    const Node one(*line, context.findings);
    const std::string pattern = one.text("link", "");
    links.check(one, "link", pattern, true,
                [&](const Link& link) { return fits(pattern, link.name) || link.link_class == pattern; });
  }
  if (const Element* egress = node.child("egress")) {
    const Node one(*egress, context.findings);
    const std::string text = one.text("links", "");
    links.check(one, "links", text, true,
                [&](const Link& link) { return link.name == text || link.link_class == text; });
  }
}

}  // namespace dadsim::scenario
