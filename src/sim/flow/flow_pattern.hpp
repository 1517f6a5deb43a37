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
/// Flows and links are divided into classes so that all flows of a class have the same size, and cross links of the
/// same classes in the same order, and all links of a class have the same properties and carry equally many flows of
/// each class. Then the max-min fair rates are those of one flow and one link per class: by filling progressively, all
/// of a class are fixed at once, at the same rate. The coarsest such division is found by colour refinement (on linear
/// programs: M. Grohe, K. Kersting, M. Mladenov, E. Selman, Dimension reduction via colour refinement, ESA 2014,
/// arXiv:1307.5697), here with colours of 64 bits. Where there is little symmetry, and with TCP, where turns count,
/// every pair and every link is a class by itself.
struct FlowPattern {
  /// A message: from whom to whom (rank · lanes + lane), and of which class (before classes are there: of which kind).
  struct Pair {
    collectives::Rank from = 0, to = 0;
    std::int32_t flow = 0;
    bool operator==(const Pair&) const = default;
  };
  /// Messages that are the same but for their ways.
  struct Kind {
    double bytes = 0;  ///< payload
    double share = 1;  ///< of the path's bandwidth that it gets at most
    std::int32_t number = 0;
    bool operator==(const Kind&) const = default;
  };
  struct FlowClass {
    collectives::Rank from = 0, to = 0;  ///< of the first of them
    std::int32_t kind = 0;
    std::int32_t path = 0;   ///< of the first
    std::int64_t count = 1;  ///< flows
  };
  /// A class of links that the flows of a class cross.
  struct Crossing {
    std::int32_t link_class = 0;
    double flows = 1;  ///< of the class, on each of these links; a link that is crossed twice counts twice
  };
  struct LinkClass {
    std::int32_t first = 0;  ///< link
    std::int64_t count = 1;  ///< links
  };

  std::vector<Pair> pairs;
  std::vector<Kind> kinds;
  std::vector<FlowClass> flows;
  std::vector<std::size_t> offsets;  ///< per class of flows, where its crossings begin; and their end
  std::vector<Crossing> crossings;
  std::vector<LinkClass> links;
  std::vector<std::pair<std::int32_t, std::int32_t>> class_of;  ///< link of the network, class
  bool is_divided = false;                                      ///< else every pair is a class

  std::span<const Crossing> crossings_of(std::size_t flow) const {
    return std::span(crossings).subspan(offsets[flow], offsets[flow + 1] - offsets[flow]);
  }
};

/// Finds the classes of the pairs, whose `flow` is the number of a kind. `may_divide`: false leaves every pair by
/// itself.
void find_classes(FlowPattern& pattern, collectives::Rank lanes, FlowRoutes& routes, Interconnect& network,
                  const std::vector<simgrid::s4u::Host*>& hosts, bool may_divide);

}  // namespace dadsim::sim
