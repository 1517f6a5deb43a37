#include "sim/flow/flow_pattern.hpp"

#include <algorithm>
#include <bit>

#include "sim/flow/hash_combine.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {
namespace {

constexpr int kMostPasses = 16;
constexpr std::size_t kFewPairs = 32;             // pairs below which division into classes does not pay
constexpr std::size_t kMostLinksKept = 16 << 20;  // largest number of links, of all paths together, up to which paths
                                                  // are kept
constexpr std::size_t kMostLinksOfPattern = 1 << 18;  // largest number of links that a pattern keeps

/// Paths of all pairs, kept if there is room.
class PairWays {
 public:
  PairWays(const std::vector<FlowPattern::Pair>& pairs, collectives::Rank lanes, FlowRoutes& routes)
      : pairs_(pairs), lanes_(lanes), routes_(routes) {
    if (pairs.size() > kMostLinksKept / 4) return;
    offsets_.reserve(pairs.size() + 1);
    offsets_.push_back(0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::vector<std::int32_t>& links = looked_up(i);
      if (kept_.size() + links.size() > kMostLinksKept) {
        offsets_.clear();
        kept_ = {};
        return;
      }
      kept_.insert(kept_.end(), links.begin(), links.end());
      offsets_.push_back(kept_.size());
    }
  }

  /// Moves the links into `pattern` if they are few.
  void keep_in(FlowPattern& pattern) {
    if (kept_.size() > kMostLinksOfPattern) return;
    pattern.way_links = std::move(kept_);
    pattern.way_offsets = std::move(offsets_);
  }

  std::span<const std::int32_t> of(std::size_t pair) {
    if (offsets_.empty()) return looked_up(pair);
    return std::span(kept_).subspan(offsets_[pair], offsets_[pair + 1] - offsets_[pair]);
  }

 private:
  const std::vector<std::int32_t>& looked_up(std::size_t pair) {
    return routes_.links(static_cast<std::size_t>(pairs_[pair].from / lanes_),
                         static_cast<std::size_t>(pairs_[pair].to / lanes_));
  }

  const std::vector<FlowPattern::Pair>& pairs_;
  collectives::Rank lanes_;
  FlowRoutes& routes_;
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> kept_;
};

/// Divides flows and links into equivalence classes, whose members have equal rates.
class Refinement {
 public:
  Refinement(FlowPattern& pattern, collectives::Rank lanes, FlowRoutes& routes, Interconnect& network,
             const std::vector<simgrid::s4u::Host*>& hosts)
      : pattern_(pattern),
        lanes_(lanes),
        routes_(routes),
        network_(network),
        hosts_(hosts),
        ways_(pattern.pairs, lanes, routes) {}

  /// Divides pairs into classes. Returns false, with the pairs unchanged, if there is little symmetry.
  bool divide() {
    const std::vector<FlowPattern::Pair>& pairs = pattern_.pairs;
    if (pairs.size() < kFewPairs) return false;
    const std::size_t most = pairs.size() / 4;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      if (!colour_flows(most)) return false;
      if (pass == 0 && with_tcp()) return false;
      const std::size_t before = colours_in_use();
      colours_before_ = colours_;
      for (std::size_t link = 0; link < colours_.size(); ++link) {
        if (flows_on_[link] != 0) colours_[link] = hash_combine(colours_[link], flows_on_[link]);
      }
      const std::size_t now = colours_in_use();
      if (now == before) return settle();
      if (now > most) return false;
    }
    return false;
  }

  /// Makes a class of every pair and of every link.
  void leave_apart() {
    FlatMap<std::int32_t> class_of_link;
    pattern_.offsets.push_back(0);
    for (std::size_t i = 0; i < pattern_.pairs.size(); ++i) {
      FlowPattern::Pair& pair = pattern_.pairs[i];
      pattern_.flows.push_back({pair.from, pair.to, pair.flow, path_of(pair), 1});
      for (const std::int32_t link : ways_.of(i)) {
        const auto [known, added] = class_of_link.try_emplace(static_cast<std::uint64_t>(link),
                                                              static_cast<std::int32_t>(pattern_.links.size()));
        if (added) {
          pattern_.links.push_back({link, 1});
          pattern_.class_of.emplace_back(link, *known);
        }
        pattern_.crossings.push_back({*known, 1});
      }
      pattern_.offsets.push_back(pattern_.crossings.size());
      pair.flow = static_cast<std::int32_t>(i);
    }
    std::ranges::sort(pattern_.class_of);
  }

 private:
  struct FoundClass {
    std::size_t first = 0;  ///< first pair of the class
    std::int64_t count = 0;
  };

  std::int32_t path_of(const FlowPattern::Pair& pair) {
    return network_.path(hosts_[static_cast<std::size_t>(pair.from / lanes_)],
                         hosts_[static_cast<std::size_t>(pair.to / lanes_)]);
  }

  bool with_tcp() const {
    for (std::size_t link = 0; link < flows_on_.size(); ++link) {
      if (flows_on_[link] != 0 && network_.links()[link].use.transport == spec::Transport::tcp) return true;
    }
    return false;
  }

  /// Returns the number of colours among links that carry flows.
  std::size_t colours_in_use() const {
    FlatMap<bool> seen;
    for (std::size_t link = 0; link < colours_.size(); ++link) {
      if (flows_on_[link] != 0) seen.try_emplace(colours_[link], true);
    }
    return seen.size();
  }

  /// Colours flows from the colours of links. Returns false if there are too many colours.
  bool colour_flows(std::size_t most) {
    found_.clear();
    class_of_colour_.clear();
    flows_on_.assign(network_.links().size(), 0);
    class_of_pair_.resize(pattern_.pairs.size());
    for (std::size_t i = 0; i < pattern_.pairs.size(); ++i) {
      const FlowPattern::Pair& pair = pattern_.pairs[i];
      auto colour = static_cast<std::uint64_t>(pair.flow);
      const std::span<const std::int32_t> links = ways_.of(i);
      if (flows_on_.size() < network_.links().size()) flows_on_.resize(network_.links().size(), 0);
      for (const std::int32_t link : links) colour = hash_combine(colour, colour_of(link));
      if (!routes_.are_links_alone()) {
        colour = hash_combine(colour, std::bit_cast<std::uint64_t>(network_[path_of(pair)].latency));
      }
      const std::uint64_t contribution = hash_combine(colour, 1);
      for (const std::int32_t link : links) flows_on_[static_cast<std::size_t>(link)] += contribution;
      const auto [known, added] = class_of_colour_.try_emplace(colour, static_cast<std::int32_t>(found_.size()));
      if (added) {
        if (found_.size() == most) return false;
        found_.push_back({i, 0});
      }
      ++found_[static_cast<std::size_t>(*known)].count;
      class_of_pair_[i] = *known;
    }
    return true;
  }

  std::uint64_t colour_of(std::int32_t link) {
    const auto index = static_cast<std::size_t>(link);
    while (colours_.size() <= index) colours_.push_back(network_.links()[colours_.size()].kind);
    return colours_[index];
  }

  /// Writes the classes: those of flows from the last pass, and those of links from its beginning.
  bool settle() {
    FlatMap<std::int32_t> class_of_link_colour;
    std::vector<std::int32_t> class_of_link(colours_before_.size(), -1);
    for (std::size_t link = 0; link < colours_before_.size(); ++link) {
      if (flows_on_[link] == 0) continue;
      const auto [known, added] =
          class_of_link_colour.try_emplace(colours_before_[link], static_cast<std::int32_t>(pattern_.links.size()));
      if (added) pattern_.links.push_back({static_cast<std::int32_t>(link), 0});
      ++pattern_.links[static_cast<std::size_t>(*known)].count;
      class_of_link[link] = *known;
      pattern_.class_of.emplace_back(static_cast<std::int32_t>(link), *known);
    }
    pattern_.offsets.push_back(0);
    for (const FoundClass& found : found_) {
      const FlowPattern::Pair& pair = pattern_.pairs[found.first];
      pattern_.flows.push_back({pair.from, pair.to, pair.flow, path_of(pair), found.count});
      const std::size_t begin = pattern_.crossings.size();
      for (const std::int32_t link : ways_.of(found.first)) {
        const std::int32_t of_link = class_of_link[static_cast<std::size_t>(link)];
        const double flows = static_cast<double>(found.count) /
                             static_cast<double>(pattern_.links[static_cast<std::size_t>(of_link)].count);
        const auto mine = std::span(pattern_.crossings).subspan(begin);
        const auto known = std::ranges::find(mine, of_link, &FlowPattern::Crossing::link_class);
        if (known != mine.end()) {
          known->flows += flows;
        } else {
          pattern_.crossings.push_back({of_link, flows});
        }
      }
      pattern_.offsets.push_back(pattern_.crossings.size());
    }
    for (std::size_t i = 0; i < pattern_.pairs.size(); ++i) pattern_.pairs[i].flow = class_of_pair_[i];
    ways_.keep_in(pattern_);
    pattern_.is_divided = true;
    return true;
  }

  FlowPattern& pattern_;
  collectives::Rank lanes_;
  FlowRoutes& routes_;
  Interconnect& network_;
  const std::vector<simgrid::s4u::Host*>& hosts_;
  PairWays ways_;
  std::vector<std::uint64_t> colours_, colours_before_;  ///< colours of the links after this pass and before it
  std::vector<std::uint64_t> flows_on_;                  ///< sum of the contributions of the flows' colours, per link
  FlatMap<std::int32_t> class_of_colour_;
  std::vector<std::int32_t> class_of_pair_;
  std::vector<FoundClass> found_;
};

}  // namespace

void find_classes(FlowPattern& pattern, collectives::Rank lanes, FlowRoutes& routes, Interconnect& network,
                  const std::vector<simgrid::s4u::Host*>& hosts, bool may_divide) {
  Refinement refinement(pattern, lanes, routes, network, hosts);
  if (may_divide && refinement.divide()) return;
  refinement.leave_apart();
}

}  // namespace dadsim::sim
