#pragma once

#include <cstdint>
#include <span>

namespace dadsim::compress {

/// Thresholds of SIDCo (Abdelmoniem, Elzanaty, Alouini, Canini, MLSys 2021, arXiv 2101.10761): a distribution is fitted
/// to the magnitudes of the numbers; its quantile is the magnitude exceeded by a fraction of them.
struct SidcoFit {
  enum class Law : std::uint8_t {
    exponential,  ///< SIDCo-E: numbers are double exponential (Laplace)
    pareto,       ///< SIDCo-P: double generalised Pareto, fitted by its moments
    gamma,        ///< SIDCo-GP: double gamma by approximate maximum likelihood, its tails generalised Pareto
  };
  Law law = Law::exponential;
  bool asymptotic = false;  ///< uses a closed approximation of the gamma quantile for far tails
};

/// Statistics for a fit: of magnitudes, or of their excess over a threshold.
struct SidcoMoments {
  double mean = 0;
  double variance = 0;
  double mean_log = 0;  ///< mean logarithm of those above zero
  double positive = 0;  ///< share of those above zero
};

/// Returns τ with P(X > τ) = `share`: E −μ ln δ; P a (1 − δᵏ)/k with k = (μ²/s² − 1)/2, a = μ (μ²/s² + 1)/2; GP β
/// P⁻¹(α, 1 − δ) with s = ln μ − mean ln x, α = (3 − s + √((s − 3)² + 24 s))/(12 s), β = μ/α, or −β (ln δ + ln Γ(α)). A
/// gamma distribution excludes zeros, so that a correspondingly larger share of the rest is above τ. `tail`:
/// exceedances, which SIDCo-GP treats as generalised Pareto.
double sidco_quantile(const SidcoFit& fit, bool tail, const SidcoMoments& moments, double share);

/// Returns the threshold exceeded by about `fraction` of the numbers, in `stages`: the first takes a quarter of them
/// (all it wants if it is the only one), each later one is fitted to the previous stage's exceedances, less the
/// smallest of them.
double sidco_threshold(std::span<const float> numbers, double fraction, int stages, const SidcoFit& fit);

/// Returns δ₁, …: the share that a stage keeps of the previous stage's numbers.
double sidco_stage_share(double fraction, int stages, int stage);

}  // namespace dadsim::compress
