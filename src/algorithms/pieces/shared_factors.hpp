#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "algorithms/pieces/factorise.hpp"
#include "algorithms/step/training_step.hpp"
#include "step/operations.hpp"

// Factorisations of gradients as algorithms share them: each piece computes and records what that costs.

namespace dadsim::algorithms {

/// Error feedback of factorisations: what a truncation left out of a matrix is added to the next one, so that over
/// steps nothing is lost. Held dense, out × in, as the sum of what is left out has soon as many components as a matrix
/// can have.
class FactorMemory {
 public:
  /// From here on for so many; before factorise() in several threads, each of its own `of`.
  void hold(std::size_t many) {
    if (held_.size() < many) held_.resize(many);
  }
  /// Factors of Δᵀ A and what is held for `of`, which from then on is what they lack of that. `delta` is rows × out,
  /// `input` rows × in; for the others see factorise().
  Factors factorise(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input,
                    const FactoriseOptions& options, std::uint64_t seed, std::uint32_t stream, std::uint32_t step);
  /// What is held; empty before anything was.
  const models::Matrix& held(std::size_t of) const { return held_.at(of); }

 private:
  std::vector<models::Matrix> held_;
};

/// What factorising costs for so many rows and components, with a memory (may be null) or without.
std::vector<step::Work> factorise_work(const FactorMemory* memory, const step::Expression& rows,
                                       const step::Expression& rank, const FactoriseOptions& options);

/// Padding where fewer components are found than the cap allows.
enum class Padding {
  none,  ///< those alone; messages differ in size, and who receives one is taken to know it
  /// Zeros behind them up to the most that a site has found, which peers agree on first: an all-reduce of one number.
  /// An aggregator takes messages of any size.
  agree,
  cap,  ///< zeros behind them up to the cap or what the matrix allows: all messages of a layer have one known size
};

struct SharedFactorsOptions {
  FactoriseOptions factorise;
  Padding padding = Padding::none;
};

/// The factors that the sites have found of one layer, r_s × out and r_s × (in + 1 with a bias) at site s.
class SiteFactors {
 public:
  SiteFactors(std::vector<Factors> of_sites, step::Expression rows)
      : of_(std::move(of_sites)), rows_(std::move(rows)) {}
  /// Both factors, to be handed over. Refers to this object.
  Contribution contribution() const;

 private:
  std::vector<Factors> of_;
  step::Expression rows_;  ///< of a site, as they are sent
};

/// A (rows × in) and Δ (rows × out) of a layer at every site.
struct SiteRows {
  std::function<models::ConstBlock(std::size_t site)> input, delta;
  step::Expression rows;  ///< of a site, in symbols
};
/// Those of this step.
SiteRows rows_of_step(TrainingStep& step, std::size_t l);

/// Every site factorises its Δᵀ [A 1] of layer l. Notes the effective ranks. `memory` (may be null) has a matrix per
/// site of what was left out of this layer, which is added first and kept anew.
SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                            FactorMemory* memory = nullptr);
SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options, const SiteRows& own,
                            FactorMemory* memory = nullptr);

/// The components of all sites, factorised once more with the same limits. Notes the effective rank. `rows` of a site
/// were factorised first. `memory`: as above, with what is left out here behind that of the sites.
Combination refactorise(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                        const step::Expression& rows = step::extent::rows(), FactorMemory* memory = nullptr);
/// The components of all sites as they are. Notes how many they are together.
Combination keep_all(TrainingStep& step, std::size_t l);

/// Lᵀ R of shared factors, taken apart into matrix and bias.
models::LayerGradient multiply(TrainingStep& step, std::size_t l, const Rows& factors);

}  // namespace dadsim::algorithms
