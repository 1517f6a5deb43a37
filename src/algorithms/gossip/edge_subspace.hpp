#pragma once

#include <boost/random/normal_distribution.hpp>
#include <cstdint>

#include "models/gemm/work_count.hpp"
#include "models/matrix.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms::gossip {

/// Subspace iteration on the difference D = X_i − X_j (a × b) of the two ends of an edge, which neither end knows: each
/// sends its own product with the vectors that both know (PowerGossip, Vogels, Karimireddy, Jaggi, NeurIPS 2020, arXiv
/// 2008.01425, algorithm 1). Even iterations: p ← orth(p), q ← Dᵀ p; odd ones: q ← orth(q), p ← D q. The ends move
/// along p qᵀ, a projection of D.
template <class T>
struct EdgeSubspace {
  models::MatrixOf<T> p;  ///< a × r
  models::MatrixOf<T> q;  ///< b × r
  std::int64_t iteration = 0;

  bool even() const { return iteration % 2 == 0; }
};

/// Makes the columns orthonormal by Gram–Schmidt, twice. A column in the span of earlier ones is replaced by a random
/// one, from a stream that both ends share.
template <class T>
void orthonormalise_columns(models::MatrixOf<T>& columns, RandomStream& shared) {
  boost::random::normal_distribution<T> normal;
  for (Eigen::Index k = 0; k < columns.cols(); ++k) {
    constexpr T kNothing = std::is_same_v<T, float> ? T(1e-6) : T(1e-13);
    for (int attempt = 0; attempt < 3; ++attempt) {
      models::VectorOf<T> v = columns.col(k);
      const T length = v.stableNorm();
      const auto before = columns.leftCols(k);
      for (int pass = 0; pass < 2 && k > 0; ++pass) v -= before * (before.transpose() * v).eval();
      const T left = v.stableNorm();
      if (left > kNothing * length && left > 0) {
        columns.col(k) = v / left;
        break;
      }
      for (T& x : columns.col(k)) x = normal(shared);
    }
  }
}

/// Draws start vectors from a stream that both ends share. `rank` ≤ rows, columns of X.
template <class T>
EdgeSubspace<T> start_subspace(Eigen::Index rows, Eigen::Index columns, Eigen::Index rank, RandomStream& shared) {
  EdgeSubspace<T> edge{models::MatrixOf<T>(rows, rank), models::MatrixOf<T>(columns, rank), 0};
  boost::random::normal_distribution<T> normal;
  for (T& x : edge.p.reshaped()) x = normal(shared);
  for (T& x : edge.q.reshaped()) x = normal(shared);
  return edge;
}

/// Orthonormalises the vectors that the next products use.
template <class T>
void begin_iteration(EdgeSubspace<T>& edge, RandomStream& shared) {
  orthonormalise_columns(edge.even() ? edge.p : edge.q, shared);
}

/// Returns the product that an end sends: Xᵀ p (b × r), or X q (a × r).
template <class T, class X>
models::MatrixOf<T> product_of_end(const EdgeSubspace<T>& edge, const X& x) {
  if (edge.even()) return models::counted(x.transpose() * edge.p);
  return models::counted(x * edge.q);
}

/// Replaces the vectors by the difference of both ends' products, which both know.
template <class T>
void end_iteration(EdgeSubspace<T>& edge, const models::MatrixOf<T>& of_first, const models::MatrixOf<T>& of_second) {
  (edge.even() ? edge.q : edge.p) = of_first - of_second;
  ++edge.iteration;
}

/// Moves an end along p qᵀ: `scale` is −γ w at the first end, γ w at the second.
template <class T, class X>
void move_along(const EdgeSubspace<T>& edge, double scale, X&& x) {
  x += static_cast<T>(scale) * models::counted(edge.p * edge.q.transpose());
}

}  // namespace dadsim::algorithms::gossip
