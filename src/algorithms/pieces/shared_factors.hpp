#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "algorithms/pieces/factorise.hpp"
#include "algorithms/step/training_step.hpp"
#include "step/operations.hpp"

// Factorisations of gradients that algorithms share: each function computes its result and records its cost.

namespace dadsim::algorithms {

/// Error feedback of factorisations: the remainder of a truncated matrix is added to the next step's matrix, so that
/// nothing is lost over steps. It is stored densely, out × in, since the sum of remainders soon has full rank.
class FactorMemory {
 public:
  /// Makes room for `many` matrices; call it before factorise() runs in several threads, each with its own `of`.
  void hold(std::size_t many) {
    if (held_.size() < many) held_.resize(many);
  }
  /// Returns factors of Δᵀ A plus memory number `of`, which then holds the remainder. `delta` is rows × out, `input`
  /// rows × in; for the other arguments see factorise().
  Factors factorise(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input,
                    const FactoriseOptions& options, std::uint64_t seed, std::uint32_t stream, std::uint32_t step);
  /// Returns the memory; empty before its first use.
  const models::Matrix& held(std::size_t of) const { return held_.at(of); }

 private:
  std::vector<models::Matrix> held_;
};

/// Returns the work of factorising `rows` rows into `rank` components; null `memory`: no memory.
std::vector<step::Work> factorise_work(const FactorMemory* memory, const step::Expression& rows,
                                       const step::Expression& rank, const FactoriseOptions& options);

/// Padding if fewer components are found than the cap allows.
enum class Padding {
  none,  ///< no padding; messages differ in size, and the receiver is assumed to know it
  /// Zeros up to the largest number found at any site. Peers agree on that number first, by an all-reduce; an
  /// aggregator accepts messages of any size.
  agree,
  cap,  ///< zeros up to the cap, or to the full rank if lower: all messages of a layer have one known size
};

struct SharedFactorsOptions {
  FactoriseOptions factorise;
  Padding padding = Padding::none;
};

/// Factors found at the sites for one layer: r_s × out and r_s × in at site s, with in + 1 columns if there is a bias.
class SiteFactors {
 public:
  SiteFactors(std::vector<Factors> of_sites, step::Expression rows)
      : of_(std::move(of_sites)), rows_(std::move(rows)) {}
  /// Returns both factors as a contribution that refers to this object.
  Contribution contribution() const;

 private:
  std::vector<Factors> of_;
  step::Expression rows_;  ///< rows of a site, as sent, in symbols
};

/// A (rows × in) and Δ (rows × out) of a layer at every site.
struct SiteRows {
  std::function<models::ConstBlock(std::size_t site)> input, delta;
  step::Expression rows;  ///< rows of a site, in symbols
};
/// Returns the rows of this step.
SiteRows rows_of_step(TrainingStep& step, std::size_t l);

/// Factorises Δᵀ [A 1] of layer l at every site, and records the effective ranks. `memory` (may be null) has one
/// remainder per site for this layer, which is added first and then replaced.
SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                            FactorMemory* memory = nullptr);
SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options, const SiteRows& own,
                            FactorMemory* memory = nullptr);

/// Returns a combination that factorises the components of all sites once more, with the same limits, and records the
/// effective rank. `rows`: rows of a site before its factorisation. `memory`: as in factorise_sites(); the entry after
/// the sites belongs to merging.
Combination refactorise(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                        const step::Expression& rows = step::extent::rows(), FactorMemory* memory = nullptr);
/// Returns a combination that keeps the components of all sites unchanged, and records their total number.
Combination keep_all(TrainingStep& step, std::size_t l);

/// Returns Lᵀ R of shared factors, split into matrix and bias.
models::LayerGradient multiply(TrainingStep& step, std::size_t l, const Rows& factors);

}  // namespace dadsim::algorithms
