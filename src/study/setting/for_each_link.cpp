#include "study/setting/for_each_link.hpp"

#include <variant>

namespace dadsim::study {
namespace {

using LinkVisit = std::function<void(spec::LinkSpec&)>;
using PairVisit = std::function<void(spec::WanSpec::Pair&)>;

void visit_links(spec::GpuClusterSpec& cluster, const LinkVisit& link, const PairVisit&) {
  for (spec::LinkSpec* one : {&cluster.port, &cluster.bridge, &cluster.nic, &cluster.fabric.link, &cluster.slot})
    link(*one);
  for (spec::NodeGroup& group : cluster.more) {
    link(group.port);
    link(group.nic);
  }
}

void visit_links(spec::FederationSpec& federation, const LinkVisit& link, const PairVisit&) {
  for (spec::FederationSpec::Sites& sites : federation.sites) {
    link(sites.up);
    link(sites.down);
  }
  link(federation.hub_up);
  link(federation.hub_down);
}

void visit_links(spec::WanSpec& wan, const LinkVisit& link, const PairVisit& pair) {
  link(wan.host);
  for (spec::WanSpec::Pair& one : wan.pairs) pair(one);
}

void visit_links(spec::CompositionSpec& composition, const LinkVisit& link, const PairVisit& pair) {
  for (auto& cluster : composition.clusters) std::visit([&](auto& one) { visit_links(one, link, pair); }, cluster);
  for (spec::WanSpec::Pair& one : composition.pairs) pair(one);
}

void visit_links(spec::PlatformFileSpec&, const LinkVisit&, const PairVisit&) {}

}  // namespace

void for_each_link(spec::PlatformSpec& platform, const LinkVisit& link, const PairVisit& pair) {
  std::visit([&](auto& what) { visit_links(what, link, pair); }, platform.what);
}

}  // namespace dadsim::study
