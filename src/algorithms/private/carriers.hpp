#pragma once

#include <cstdint>

#include "models/matrix.hpp"
#include "step/expression.hpp"

// Low-rank reparametrisation (Yu et al., Large Scale Private Learning via Low-rank Reparametrization, ICML 2021, arXiv
// 2106.09352): W = (W − L Rᵀ) + L Rᵀ, where only L and R have gradients.

namespace dadsim::algorithms {

/// Gradient carriers of a matrix W (out × in), each with orthonormal columns.
struct Carriers {
  models::Matrix left;   ///< out × r: L
  models::Matrix right;  ///< in × r: R
};

/// One power iteration from a drawn start: R ~ N(0, 1), L = orth(T R), R = orth(Tᵀ L). Columns that the target has no
/// directions for are zero. `target` is out × in; r = rank, at most out and in. The start depends on (seed, layer,
/// step).
Carriers carriers_of(const models::Matrix& target, std::int64_t rank, std::uint64_t seed, std::uint32_t layer,
                     std::uint32_t step);

/// From G_L = G R (out × r) and G_R = Gᵀ L (in × r) the orthogonal projection of G onto the tangent space of the
/// matrices of rank r at L Rᵀ:  G_L Rᵀ + L G_Rᵀ − L Lᵀ G_L Rᵀ.
models::Matrix from_carriers(const Carriers& carriers, const models::ConstBlock& left_gradient,
                             const models::ConstBlock& right_gradient);

/// What these cost, for r = `rank` in symbols.
step::Work carriers_work(const step::Expression& rank);
step::Work from_carriers_work(const step::Expression& rank);

}  // namespace dadsim::algorithms
