#pragma once

#include <cstdint>

#include "models/matrix.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {

struct FactoriseOptions {
  std::int64_t cap = 8;         ///< largest number of components
  std::int64_t iterations = 1;  ///< power iterations per component
  double tolerance = 0.01;      ///< a component with σ ≤ tolerance × σ₁ ends the search
  enum class FactorStop {
    share,       ///< stops at a component with σ ≤ `tolerance` × σ₁
    directions,  ///< stops if two consecutive directions differ by less than `tolerance`: see factorise.cpp
    released,    ///< stops like `directions`, and in every case drops the last two components
  };
  FactorStop stop = FactorStop::share;
  enum class FactorKernels {
    launched,  ///< each operation of an iteration is a separate kernel, as in the released programs
    fused,     ///< one kernel searches for a component
  };
  FactorKernels kernels = FactorKernels::launched;  ///< affects the cost, not the result
};

/// Factors with Lᵀ R ≈ M ≈ Σ σ_k b_k c_kᵀ, of r ≤ cap components. L (r × out) has the orthonormal directions b_k scaled
/// by σ_k, and R (r × in) the unit vectors c_k. r may be 0.
struct Factors {
  models::Matrix left;   ///< r × out
  models::Matrix right;  ///< r × in
  Eigen::Index rank() const { return left.rows(); }
};

/// Method of computing M Mᵀ v.
enum class FactoriseBranch {
  gram,       ///< through A Aᵀ (rows × rows): for few rows
  explicit_,  ///< through M Mᵀ (out × out): for many rows
};

/// Runs structured power iteration (arXiv 2102.09631) on M = Δᵀ A (out × in), without forming M if there are few rows.
/// Each component is a power iteration on M Mᵀ from a seeded random start, kept orthogonal to the previous components.
/// It is orthogonalised twice per iteration. Deflation by σ² alone would lose everything below √ε σ₁ in fp32, and count
/// directions twice after few iterations.
///
/// The product Lᵀ R is the orthogonal projection of M onto the span of the b_k, since c_k = Mᵀ b_k ÷ σ_k. With as many
/// components as the rank of M it equals M, for any number of iterations. Zero matrices and zero rows give rank 0.
/// `delta` is rows × out, `input` rows × in; (seed, stream, step) determine the random start.
Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step);
Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step, FactoriseBranch branch);

/// Factorises a given matrix M (out × in) like factorise().
Factors factorise_matrix(const models::Matrix& matrix, const FactoriseOptions& options, std::uint64_t seed,
                         std::uint32_t stream, std::uint32_t step);

/// Returns the branch with the fewest flops for all components up to the cap.
FactoriseBranch cheaper_branch(std::int64_t rows, std::int64_t in, std::int64_t out, const FactoriseOptions& options);

/// Returns the work of the factorisation in each branch, for `rows` rows and `kept` components found.
std::vector<step::Work> factorise_work(const step::Expression& rows, const step::Expression& kept,
                                       const FactoriseOptions& options);

}  // namespace dadsim::algorithms
