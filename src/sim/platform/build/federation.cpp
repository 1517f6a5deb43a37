#include <fmt/format.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <stdexcept>

#include "sim/platform/build/cluster_network.hpp"
#include "support/random.hpp"

namespace dadsim::sim {
namespace {

/// Paths of a federation. From a site to the hub: the site's line up and the hub's line down. From site to site: only
/// the lines of both, without the hub's.
class FederationZones : public ClusterNetwork {
 public:
  FederationZones(sg4::NetZone* zone, const spec::FederationSpec& spec) {
    for (const spec::FederationSpec::Sites& sites : spec.sites) {
      if (sites.count < 1)
        throw std::runtime_error(fmt::format("sites '{}' have a count of {}; use at least 1", sites.name, sites.count));
      for (std::int64_t i = 1; i <= sites.count; ++i) {
        const std::string host = name_in(spec.name, sites.numbered ? fmt::format("{}-{}", sites.name, i) : sites.name);
        make_host(zone, host, host);
        const LinkFactors factors = draw(spec.seed, static_cast<std::uint32_t>(out_.size()), sites);
        out_.push_back(make_link(zone, host + " up", changed(sites.up, factors)));
        in_.push_back(make_link(zone, host + " down", changed(sites.down, factors)));
      }
    }
    const std::string hub = name_in(spec.name, "hub");
    make_host(zone, hub, hub);
    // Omits the hub's link if its line never limits transfers.
    out_.push_back(spec.hub_up.bandwidth > 0 ? make_link(zone, hub + " up", spec.hub_up) : nullptr);
    in_.push_back(spec.hub_down.bandwidth > 0 ? make_link(zone, hub + " down", spec.hub_down) : nullptr);
  }

  std::int64_t hosts() const override { return static_cast<std::int64_t>(out_.size()); }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    leave(from, links);
    enter(to, links);
  }
  void leave(std::int64_t from, Links& links) const override { append(out_, from, links); }
  void enter(std::int64_t to, Links& links) const override { append(in_, to, links); }

 private:
  /// Random factors on a site's line, for both directions.
  struct LinkFactors {
    double bandwidth = 1, latency = 1;
  };
  static LinkFactors draw(std::uint64_t seed, std::uint32_t site, const spec::FederationSpec::Sites& sites) {
    RandomStream random(seed, Purpose::population, site);
    boost::random::normal_distribution<> normal;
    const double bandwidth = normal(random);
    const double latency = normal(random);
    return {std::exp(sites.bandwidth_spread * bandwidth), std::exp(sites.latency_spread * latency)};
  }
  static spec::LinkSpec changed(spec::LinkSpec link, const LinkFactors& factors) {
    link.bandwidth *= factors.bandwidth;
    link.latency *= factors.latency;
    return link;
  }
  static void append(const Links& lines, std::int64_t host, Links& links) {
    if (sg4::Link* link = lines[static_cast<std::size_t>(host)]) links.push_back(link);
  }

  Links out_, in_;  ///< lines of each host; those of the hub are last
};

}  // namespace

std::unique_ptr<ClusterNetwork> make_network(sg4::NetZone* zone, const spec::FederationSpec& spec) {
  return std::make_unique<FederationZones>(zone, spec);
}

}  // namespace dadsim::sim
