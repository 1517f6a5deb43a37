#pragma once

#include <cstdint>
#include <functional>
#include <span>

// Privacy spent by steps with Gaussian noise on Poisson samples of the examples: the Rényi accountant of the sampled
// Gaussian mechanism (Mironov, Talwar, Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism, arXiv
// 1908.10530). Each step takes each example with probability q, adds a vector of norm at most C per example taken, and
// adds N(0, σ²C² I) to the sum. Neighbouring data sets differ by one example.

namespace dadsim::estimate {

/// A mechanism, and how often it is applied.
struct SampledGaussian {
  double rate = 0;              ///< sampling rate q, in [0, 1]
  double noise_multiplier = 0;  ///< σ ≥ 0: deviation of the noise ÷ the clipping norm
  std::int64_t steps = 1;
};

/// Returns the Rényi divergence of order α > 1 of one step, RDP(α) = ln A_α ÷ (α − 1) with
///     A_α = E_{z ~ N(0, σ²)} [ ((1 − q) + q exp((2z − 1) ÷ 2σ²))^α ].
/// For whole α (section 3.3 of the paper), A_α = Σ_k C(α, k) (1 − q)^{α−k} q^k exp((k² − k) ÷ 2σ²). For other α, the
/// integral is divided at z₀ = σ² ln(1/q − 1) + ½, where both summands are equal. On each side, the smaller summand is
/// expanded into a binomial series of Gaussian integrals, exp((k² − k) ÷ 2σ²) times half an erfc. For q = 1 the result
/// is α ÷ 2σ²; for σ = 0 it is infinite unless q = 0. Throws std::invalid_argument outside these ranges.
double renyi_divergence(double rate, double noise_multiplier, double order);

/// Conversion from Rényi privacy (RDP) of an order to (ε, δ).
enum class Conversion {
  /// ε = RDP(α) + ln((α − 1) ÷ α) − (ln δ + ln α) ÷ (α − 1): Balle et al., Hypothesis Testing Interpretations and Rényi
  /// Differential Privacy, AISTATS 2020, arXiv 1905.09982, theorem 21; Canonne, Kamath, Steinke, The Discrete Gaussian
  /// for Differential Privacy, NeurIPS 2020, arXiv 2004.00010, proposition 12.
  tight,
  /// ε = RDP(α) − ln δ ÷ (α − 1): Mironov, Rényi Differential Privacy, CSF 2017, arXiv 1702.07476, proposition 3.
  classic,
};

/// Returns the smallest ε over orders from 1.01 to 1024 such that all steps together are (ε, δ)-private; infinite
/// without noise. `delta` in (0, 1).
double epsilon_spent(const SampledGaussian& mechanism, double delta, Conversion conversion = Conversion::tight);
/// Returns the ε of several mechanisms on the same data, in sequence. Their divergences add up at every order (Mironov,
/// arXiv 1702.07476, proposition 1), even if each is chosen from earlier releases.
double epsilon_spent(std::span<const SampledGaussian> mechanisms, double delta,
                     Conversion conversion = Conversion::tight);

/// Returns the smallest noise multiplier, to a relative 1e-6, with which the steps spend at most `epsilon` > 0 (tight
/// conversion). 0 if nothing is sampled. Throws std::invalid_argument if 10⁶ does not suffice.
double noise_multiplier_for(double epsilon, double delta, double rate, std::int64_t steps);
/// Returns the smallest noise multiplier whose `spent`, a decreasing function from noise multiplier to ε, is at most
/// `epsilon`.
double noise_multiplier_for(double epsilon, const std::function<double(double noise_multiplier)>& spent);

}  // namespace dadsim::estimate
