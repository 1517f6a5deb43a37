#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/flow/flow_routes.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// The pairs of a round, and their equivalence classes.
///
/// All flows of a class have the same size and cross links of the same classes in the same order. All links of a class
/// have the same properties and carry equally many flows of each class. The max-min fair rates then follow from one
/// flow and one link per class, because progressive filling fixes all members at once, at the same rate. Colour
/// refinement finds the coarsest such division, here with colours of 64 bits. (On linear programs: M. Grohe, K.
/// Kersting, M. Mladenov, E. Selman, Dimension reduction via colour refinement, ESA 2014, arXiv:1307.5697.) Every pair
/// and every link is a separate class if there is little symmetry, and over TCP, where order matters.
struct FlowPattern {
  /// A message: sender and receiver (rank · lanes + lane), and its class. Before classes are found, `flow` is the
  /// message's kind.
  struct Pair {
    collectives::Rank from = 0, to = 0;
    std::int32_t flow = 0;
    bool operator==(const Pair&) const = default;
  };
  /// A kind of messages, which differ only in their paths.
  struct Kind {
    double bytes = 0;  ///< payload, bytes
    double share = 1;  ///< largest share of the path's bandwidth
    std::int32_t number = 0;
    bool operator==(const Kind&) const = default;
  };
  struct FlowClass {
    collectives::Rank from = 0, to = 0;  ///< ranks of the first flow
    std::int32_t kind = 0;
    std::int32_t path = 0;   ///< path of the first flow
    std::int64_t count = 1;  ///< number of flows
  };
  /// A class of links that the flows of a class cross.
  struct Crossing {
    std::int32_t link_class = 0;
    double flows = 1;  ///< flows of the class on each of these links; counted twice if they cross the link twice
  };
  struct LinkClass {
    std::int32_t first = 0;  ///< first link of the class
    std::int64_t count = 1;  ///< number of links
  };

  std::vector<Pair> pairs;
  std::vector<Kind> kinds;
  std::vector<FlowClass> flows;
  std::vector<std::size_t> offsets;  ///< first crossing of each class of flows, and the end of the last
  std::vector<Crossing> crossings;
  std::vector<LinkClass> links;
  std::vector<std::pair<std::int32_t, std::int32_t>> class_of;  ///< link of the network, and its class
  std::vector<std::int32_t> way_links;                          ///< links of all pairs, in order; empty: not kept
  std::vector<std::size_t> way_offsets;                         ///< first link of each pair, and the end of the last
  bool is_divided = false;                                      ///< false: every pair and every link is a separate
                                                                ///< class

  std::span<const Crossing> crossings_of(std::size_t flow) const {
    return std::span(crossings).subspan(offsets[flow], offsets[flow + 1] - offsets[flow]);
  }
};

/// Finds the classes of the pairs; their `flow` initially has the number of a kind. `may_divide`: false makes every
/// pair a class.
void find_classes(FlowPattern& pattern, collectives::Rank lanes, FlowRoutes& routes, Interconnect& network,
                  const std::vector<simgrid::s4u::Host*>& hosts, bool may_divide);

}  // namespace dadsim::sim
