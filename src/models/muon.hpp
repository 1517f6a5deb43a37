#pragma once

#include "models/matrix.hpp"
#include "spec/specification.hpp"

namespace dadsim::models {

/// Iterations of Newton–Schulz in a step of Muon.
inline constexpr int kNewtonSchulzSteps = 5;

/// Returns a matrix close to U Vᵀ of M = U Σ Vᵀ, of the same shape: X = M ÷ (‖M‖ + 1e-7), and five times
///   A = X Xᵀ,  X ← a X + (b A + c A²) X            (for Mᵀ if M has more rows than columns)
/// With `fixed` coefficients (Jordan et al., Muon, 2024; KellerJordan/Muon) singular values above 0.01 of the norm
/// become 0.68 to 1.14, with `tuned` ones (microsoft/dion) 0.97 to 1.04. All in fp32; the authors use bf16.
Matrix orthogonalised(ConstBlock matrix, spec::OptimizerSpec::NewtonSchulz coefficients);

/// Returns the factor on the orthogonal step of a matrix with `out` outputs and `in` inputs.
double muon_scale(spec::OptimizerSpec::MuonScale scale, Eigen::Index out, Eigen::Index in);

}  // namespace dadsim::models
