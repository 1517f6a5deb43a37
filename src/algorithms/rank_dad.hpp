#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/factorise.hpp"

namespace dadsim::algorithms {

/// rank-dAD: every site compresses its Δᵀ A to a few components by structured power iterations on the factors, without
/// forming the gradient, and shares those: r × (in + out) instead of in × out. How many are needed is found per layer
/// and step (the effective rank, the paper's "introspection"). Two-way: the aggregator (or every peer alike) compresses
/// the components of all sites once more; one-way: all components are used as they are. A bias is compressed together
/// with its matrix, as a column of ones in A: the sum of the left factors alone would depend on their signs.
class RankDad final : public Algorithm {
 public:
  enum class Mode { one_way, two_way };
  /// What is sent where fewer components are found than the cap allows.
  enum class Padding {
    none,  ///< those alone; messages differ in size, and who receives one is taken to know it
    cap,   ///< zeros behind them up to the cap or what the matrix allows: all messages of a layer have one known size
  };
  RankDad(FactoriseOptions options, Mode mode, Padding padding) : options_(options), mode_(mode), padding_(padding) {}
  void run(TrainingStep& step) override;

 private:
  /// Per site, the factors of its Δᵀ [A 1] at this layer.
  std::vector<Factors> factorise_sites(TrainingStep& step, std::size_t layer) const;
  /// The components of all sites, compressed once more.
  Factors merge(const models::Matrix& left, const models::Matrix& right, const TrainingStep& step,
                std::size_t layer) const;

  /// As they are sent.
  Factors padded(Factors factors) const;

  FactoriseOptions options_;
  Mode mode_;
  Padding padding_;
};

AlgorithmInfo rank_dad_info();

}  // namespace dadsim::algorithms
