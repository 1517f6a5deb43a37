#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// x̂, what those whom a site sends to know of it, in a graph that stays the same (CHOCO-SGD, Koloskova, Stich, Jaggi,
/// arXiv 1902.00340; quantized push-sum, Taheri et al., ICML 2020). As long as nobody misses a step, x̂_i is the same at
/// all that keep it, and there is one for each site.
///
/// From the first step on that a site misses, each edge has a copy of its own, x̂_ij at i and at j: what i sends to
/// others while j is away does not come to j, and counts for nothing between these two. An edge from or to a site that
/// is away is left out of a step, and its copies stay. Every edge then moves as much out of one site as into the other
/// by numbers that both have, so that sums over sites stay what they are, whichever sites are away. This is ours: the
/// papers know no site that misses a step.
class PublicCopies {
 public:
  /// Before a step of sites that have `x`.
  void begin(const OwnWeightsStep& step, const Field& x);
  /// Neighbours get messages of their own.
  bool is_per_edge() const { return !first_edge_.empty(); }
  /// Where in a block of a Field of copies that stands which `receiver` has of `sender`.
  std::size_t place(std::size_t sender, std::size_t receiver) const;
  const models::Matrix& at(std::size_t block, std::size_t sender, std::size_t receiver) const {
    return copies_[block][place(sender, receiver)];
  }
  models::Matrix& at(std::size_t block, std::size_t sender, std::size_t receiver) {
    return copies_[block][place(sender, receiver)];
  }
  /// The one copy of a site; *requires* !is_per_edge().
  models::Matrix& of(std::size_t block, std::size_t site) { return copies_[block][site]; }
  /// x − x̂, a row for each copy; charged to the sites.
  Field news(OwnWeightsStep& step, const Field& x) const;
  /// How many copies of its own the site with the most neighbours in this step sends from.
  double sent(const OwnWeightsStep& step) const;
  /// All know x from now on.
  void reset(const Field& x);

 private:
  Field copies_;                         ///< [block][copy]
  std::vector<std::size_t> first_edge_;  ///< per site, the place of its first edge; empty: a copy for each site
  std::vector<std::size_t> sender_;      ///< per copy
  std::shared_ptr<const step::Neighbours> graph_;
};

/// What is wrong with the <compress> of a run whose sites send each neighbour a message of its own (`always`, or from
/// the first step on that a site misses): how much a compressor keeps that adapts to the numbers is told of one message
/// of a site.
RunFaults own_message_faults(const RunFacts& facts, bool always);

/// Copies that the site with the most neighbours keeps once sites have missed steps: one of what each of those that it
/// sends to knows, and one of each that it hears; never less than two. Throws InputError where a file says no graph.
double copies_per_edge(const RunFacts& facts);

}  // namespace dadsim::algorithms
