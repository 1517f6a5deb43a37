#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// dAD (distributed auto-differentiation): instead of G = Δᵀ A (out × in) the sites share its factors, A (rows × in)
/// and Δ (rows × out). Every site forms Δ̂ᵀ Â over the rows of all sites. The result is exact. Messages are smaller
/// than a gradient if rows × (in + out) < in × out.
class Dad final : public Algorithm {
 public:
  static constexpr const char* kName = "dad";

  struct Options {
    /// Sends A and Δ in one collective each after the backward pass, and waits for each before the next, like a plain
    /// loop over layers. Otherwise A and Δ are sent together, overlapped with the rest of the backward pass.
    bool separate = false;
    /// Shares gradients of embedding tables by the rows that were read (pieces/table_rows.hpp). Otherwise table
    /// gradients are summed.
    bool table_rows = false;
  };
  explicit Dad(Options options) : options_(options) {}

  void run(TrainingStep& step) override;

 private:
  void share_beside_the_pass(TrainingStep& step);
  void share_one_by_one(TrainingStep& step);

  Options options_;
};

}  // namespace dadsim::algorithms
