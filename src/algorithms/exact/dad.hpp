#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// dAD (distributed auto-differentiation): instead of G = Δᵀ A (out × in) the sites share its factors, A (rows × in)
/// and Δ (rows × out), and every site forms Δ̂ᵀ Â over the rows of all sites. Exact. Smaller than a gradient where rows
/// × (in + out) < in × out.
class Dad final : public Algorithm {
 public:
  static constexpr const char* kName = "dad";

  struct Options {
    /// A and Δ in a collective each, after the backward pass and one waited for before the next, as a plain loop over
    /// the layers does it. Otherwise both travel together, beside the rest of the backward pass.
    bool separate = false;
    /// Tables of embeddings by the rows that were read: see pieces/table_rows.hpp. Otherwise their gradients are
    /// summed.
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
