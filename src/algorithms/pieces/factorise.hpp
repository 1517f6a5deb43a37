#pragma once

#include <cstdint>

#include "models/matrix.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {

struct FactoriseOptions {
  std::int64_t cap = 8;         ///< most components
  std::int64_t iterations = 1;  ///< power iterations per component
  double tolerance = 0.01;      ///< a component with σ ≤ tolerance × σ₁ ends the search
  enum class FactorStop {
    share,       ///< as above
    directions,  ///< two directions that follow each other and differ by less than `tolerance`: see factorise.cpp
    released,    ///< the same, and the last two components are dropped whatever has ended the search
  };
  FactorStop stop = FactorStop::share;
  enum class FactorKernels {
    launched,  ///< each operation of an iteration is a kernel of its own, as the released programs run it
    fused,     ///< the search for one component is one kernel
  };
  FactorKernels kernels = FactorKernels::launched;  ///< changes the cost, not the result
};

/// Lᵀ R ≈ M with r ≤ cap components: L = r × out has the orthonormal directions b_k scaled by σ_k, R = r × in the unit
/// vectors c_k, so that M ≈ Σ σ_k b_k c_kᵀ. r may be 0.
struct Factors {
  models::Matrix left;   ///< r × out
  models::Matrix right;  ///< r × in
  Eigen::Index rank() const { return left.rows(); }
};

/// Which way M Mᵀ v is formed.
enum class FactoriseBranch {
  gram,       ///< through A Aᵀ (rows × rows): for few rows
  explicit_,  ///< through M Mᵀ (out × out): for many rows
};

/// Structured power iteration (arXiv 2102.09631) on M = Δᵀ A (out × in) without forming it where the rows are few: each
/// component is a power iteration on M Mᵀ from a seeded random start, kept orthogonal to the components before it
/// (twice per iteration: deflation by σ² alone loses what is below √ε σ₁ in fp32 and counts directions twice while
/// iterations are few). As c_k = Mᵀ b_k ÷ σ_k, the product Lᵀ R is the orthogonal projection of M onto the span of the
/// b_k, so that with as many components as M has rank it is M whatever the iterations. Zero matrices and zero rows give
/// rank 0. `delta` is rows × out, `input` rows × in; `stream` tells this factorisation's random start from others
/// (seed, stream, step).
Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step);
Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step, FactoriseBranch branch);

/// The same of a matrix M (out × in) that is there as it is.
Factors factorise_matrix(const models::Matrix& matrix, const FactoriseOptions& options, std::uint64_t seed,
                         std::uint32_t stream, std::uint32_t step);

/// The branch with fewer flops when all components up to the cap are sought.
FactoriseBranch cheaper_branch(std::int64_t rows, std::int64_t in, std::int64_t out, const FactoriseOptions& options);

/// What the factorisation costs in each branch, for the number of rows and of components found.
std::vector<step::Work> factorise_work(const step::Expression& rows, const step::Expression& kept,
                                       const FactoriseOptions& options);

}  // namespace dadsim::algorithms
