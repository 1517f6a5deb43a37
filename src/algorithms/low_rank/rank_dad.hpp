#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/shared_factors.hpp"

namespace dadsim::algorithms {

/// rank-dAD: every site compresses its Δᵀ A to a few components by structured power iterations on the factors, without
/// forming the gradient. It shares these components: r × (in + out) numbers instead of in × out. Their number is found
/// per layer and step (the effective rank, the paper's "introspection"). Two-way: the aggregator (or every peer alike)
/// compresses the components of all sites once more; one-way: all components are used unchanged. A bias is compressed
/// together with its matrix, as a column of ones in A: the sum of the left factors alone would depend on their signs.
class RankDad final : public Algorithm {
 public:
  static constexpr const char* kName = "rank-dad";

  enum class Mode { one_way, two_way };
  /// `table_rows`: shares embedding tables by the rows that were read (pieces/table_rows.hpp). `remembers`: adds the
  /// remainder of a factorisation, at sites or in merging, to the same matrix in the next step.
  RankDad(SharedFactorsOptions options, Mode mode, bool table_rows, bool remembers = false)
      : options_(options), mode_(mode), table_rows_(table_rows), remembers_(remembers) {}
  void run(TrainingStep& step) override;

  /// Returns the error memories of matrix l: one per site, then that of merging.
  const FactorMemory& memory(std::size_t l) const { return memory_.at(l); }

 private:
  SharedFactorsOptions options_;
  Mode mode_;
  bool table_rows_;
  bool remembers_;
  std::vector<FactorMemory> memory_;  ///< per matrix
};

}  // namespace dadsim::algorithms
