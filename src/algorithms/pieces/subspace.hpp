#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/step/training_step.hpp"

// One step of subspace iteration on the gradients of all sites (Vogels, Karimireddy, Jaggi, NeurIPS 2019): each piece
// computes and records what that costs.

namespace dadsim::algorithms {

/// What PowerSGD keeps of one matrix from step to step. Without compression on the wire everything that is sent depends
/// on the errors of the sites through their sum alone, which is kept as one; otherwise every site has its own.
struct Subspace {
  std::vector<models::Matrix> memory;  ///< out × in: E between steps, M within one; of all sites together, or per site
  models::Matrix basis;                ///< in × r: Q
};

/// How many directions a subspace has, and where they come from.
struct SubspaceOptions {
  std::int64_t rank = 2;
  bool random_start = false;  ///< Q is drawn anew in every step
  /// A matrix is sent as it is unless that takes more than this many times as much as P and Q.
  double least_compression = 2;

  /// Whether a matrix is compressed.
  bool compresses(Eigen::Index in, Eigen::Index out) const;
  /// The same in symbols, 0 or 1; `rank` as min(rank, in, out).
  step::Expression compresses(const step::Expression& rank) const;
};

/// The gradients that the memories are to be added to: one per memory.
using Gradients = std::vector<models::Matrix>;

/// M = G + E and P = M Q (out × r), per memory.
std::vector<models::Matrix> project(TrainingStep& step, std::size_t l, Gradients gradients, Subspace& state,
                                    const SubspaceOptions& options, const step::Expression& rank);

/// Charges a copy of M that is kept for the error, since what all shared overwrites M itself: as PyTorch's hook has it.
/// With project(), project_back() and reconstruct() it passes over a gradient eleven times (3 for M, 2 here, 1 each for
/// P, Q and G, 3 for E).
void copy_for_the_error(TrainingStep& step, const SubspaceOptions& options, const step::Expression& rank);

/// P̂ from P: orthonormal columns. Q = Mᵀ P̂ (in × r), per memory.
std::vector<models::Matrix> project_back(TrainingStep& step, models::Matrix& columns, const Subspace& state,
                                         const SubspaceOptions& options, const step::Expression& rank);

/// G = P̂ Qᵀ, and E = M less each site's share of it.
models::Matrix reconstruct(TrainingStep& step, const models::Matrix& columns, Subspace& state,
                           const SubspaceOptions& options, const step::Expression& rank);

/// Draws columns that are zero anew from N(0, 1), the same at every site: all columns before the first step, and those
/// that stand for nothing because the gradients of the step before had fewer directions (they would stay zero for
/// ever).
void draw_missing_columns(models::Matrix& basis, std::uint64_t seed, std::uint32_t layer, std::uint32_t step);

/// Makes the columns orthonormal by Gram–Schmidt, twice per column (once loses orthogonality where columns are nearly
/// parallel). A column that lies in the span of those before it up to rounding becomes zero.
void orthonormalise(models::Matrix& columns);

}  // namespace dadsim::algorithms
