#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// Copies x̂ of a site's numbers at the sites that it sends to, in a constant graph (CHOCO-SGD, Koloskova, Stich,
/// Jaggi, arXiv 1902.00340; quantized push-sum, Taheri et al., ICML 2020). As long as no site misses a step, x̂_i is
/// the same at all holders, and one copy per site is kept.
///
/// From the first missed step on, each edge has a copy of its own, x̂_ij at i and at j. Messages that i sends while j
/// is absent do not reach j, and do not change x̂_ij. Edges from or to absent sites are left out of a step, and their
/// copies are unchanged. Each edge then moves equal amounts out of one site and into the other, by numbers that both
/// have, so that sums over sites are kept. This extension is ours: in the papers no site misses a step.
class PublicCopies {
 public:
  /// Begins a step in which the sites have weights `x`.
  void begin(const OwnWeightsStep& step, const Field& x);
  /// Returns whether neighbours get messages of their own.
  bool is_per_edge() const { return !first_edge_.empty(); }
  /// Returns the index, in a block of a Field of copies, of the copy of `sender` at `receiver`.
  std::size_t place(std::size_t sender, std::size_t receiver) const;
  const models::Matrix& at(std::size_t block, std::size_t sender, std::size_t receiver) const {
    return copies_[block][place(sender, receiver)];
  }
  models::Matrix& at(std::size_t block, std::size_t sender, std::size_t receiver) {
    return copies_[block][place(sender, receiver)];
  }
  /// Returns the one copy of a site; *requires* !is_per_edge().
  models::Matrix& of(std::size_t block, std::size_t site) { return copies_[block][site]; }
  /// Returns x − x̂, a row for each copy, and charges the sites.
  Field news(OwnWeightsStep& step, const Field& x) const;
  /// Returns the number of own copies at the site with the most neighbours in this step, one per message that it sends.
  double sent(const OwnWeightsStep& step) const;
  /// Sets all copies to x.
  void reset(const Field& x);

 private:
  Field copies_;                         ///< [block][copy]
  std::vector<std::size_t> first_edge_;  ///< per site, the index of its first edge; empty: one copy per site
  std::vector<std::size_t> sender_;      ///< sender of each copy
  std::shared_ptr<const step::Neighbours> graph_;
};

/// Checks the <compress> of a run whose sites send each neighbour a message of its own (`always`, or from the first
/// missed step on): an adaptive compressor reports its kept amount for one message per site.
RunFaults own_message_faults(const RunFacts& facts, bool always);

/// Returns the copies kept by the site with the most neighbours once sites have missed steps: one per receiver and one
/// per sender, at least two. Throws InputError if a file does not describe a graph.
double copies_per_edge(const RunFacts& facts);

}  // namespace dadsim::algorithms
