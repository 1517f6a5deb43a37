#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/step/training_step.hpp"

// One step of subspace iteration on the gradients of all sites (Vogels, Karimireddy, Jaggi, NeurIPS 2019): each
// function computes its result and records its cost.

namespace dadsim::algorithms {

/// State that PowerSGD keeps for one matrix between steps. Without compressed messages, all messages depend on the
/// sites' errors only through their sum, and only the sum is kept. Otherwise every site has its own error.
struct Subspace {
  std::vector<models::Matrix> memory;  ///< out × in: E between steps, M within a step; summed over all sites, or per
                                       ///< site
  models::Matrix basis;                ///< in × r: Q
};

/// Number and origin of the directions of a subspace.
struct SubspaceOptions {
  std::int64_t rank = 2;
  bool random_start = false;  ///< draws Q at random in every step
  /// Least ratio of a matrix's size to the size of P and Q for which it is compressed; otherwise it is sent unchanged.
  double least_compression = 2;

  /// Returns whether a matrix is compressed.
  bool compresses(Eigen::Index in, Eigen::Index out) const;
  /// Returns 1 if a matrix is compressed, else 0, in symbols; `rank` is min(rank, in, out).
  step::Expression compresses(const step::Expression& rank) const;
};

/// Gradients to be added to the memories, one per memory.
using Gradients = std::vector<models::Matrix>;

/// Returns the gradients of matrix l. Sets `beside` to the numbers sent uncompressed: the sum over sites of its biases
/// and, if it is not compressed, of the matrix, row by row.
Gradients form_gradients(TrainingStep& step, std::size_t l, bool is_compressed, models::Matrix& beside);
/// Stores the sums in `beside` in gradient(l).
void take_beside(TrainingStep& step, std::size_t l, bool is_compressed, const models::Matrix& beside);

/// Work of M = G + E and P = M Q.
step::Work project_work(const step::Expression& rank);
/// Work of P̂ from P (per column two passes of two products with the previous columns, a norm and a division) and of Q
/// = Mᵀ P̂.
step::Work project_back_work(const step::Expression& rank);
/// Work of G = P̂ Qᵀ and E = M − G.
step::Work reconstruct_work(const step::Expression& rank);

/// Computes M = G + E and returns P = M Q (out × r), per memory.
std::vector<models::Matrix> project(TrainingStep& step, std::size_t l, Gradients gradients, Subspace& state,
                                    const SubspaceOptions& options, const step::Expression& rank);

/// Charges a copy of M for the error, since the shared result overwrites M itself, as in PyTorch's hook. Together with
/// project(), project_back() and reconstruct() it passes over a gradient eleven times (3 for M, 2 here, 1 each for P, Q
/// and G, 3 for E).
void copy_for_the_error(TrainingStep& step, const SubspaceOptions& options, const step::Expression& rank);

/// Orthonormalises P to P̂ and returns Q = Mᵀ P̂ (in × r), per memory.
std::vector<models::Matrix> project_back(TrainingStep& step, models::Matrix& columns, const Subspace& state,
                                         const SubspaceOptions& options, const step::Expression& rank);

/// Returns G = P̂ Qᵀ, and leaves E = M less each site's share of G.
models::Matrix reconstruct(TrainingStep& step, const models::Matrix& columns, Subspace& state,
                           const SubspaceOptions& options, const step::Expression& rank);

/// Does one half of a step, for methods that send one factor. Computes M = G + E, orthonormalises the basis (in × r;
/// `transposed`: out × r) and returns M · basis (or Mᵀ · basis) per memory. Leaves in memory E = M minus the projection
/// of M on the basis.
std::vector<models::Matrix> project_half(TrainingStep& step, std::size_t l, Gradients gradients,
                                         std::vector<models::Matrix>& memory, models::Matrix& basis, bool transposed,
                                         const SubspaceOptions& options, const step::Expression& rank);

/// Replaces zero columns by columns from N(0, 1), the same at every site. Before the first step all columns are zero;
/// later, those without a direction in the previous step's gradients, which would stay zero.
void draw_missing_columns(models::Matrix& basis, std::uint64_t seed, std::uint32_t layer, std::uint32_t step);

/// Makes the columns orthonormal by Gram–Schmidt, twice per column (once loses orthogonality for nearly parallel
/// columns). A column in the span of the previous ones, up to rounding, becomes zero.
void orthonormalise(models::Matrix& columns);

}  // namespace dadsim::algorithms
