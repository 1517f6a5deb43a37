#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"

// Common parts of private algorithms, without computations: parameters, and the privacy that a run has spent.

namespace dadsim::algorithms {

/// Node that adds the noise N(0, σ²C² I) to a sum of clipped gradients. The node determines from which adversaries the
/// noise protects.
enum class NoiseBy : std::uint8_t {
  sites_together,  ///< each of n sites adds noise of variance σ²C² ÷ n: only the sum has the full variance (distributed
                   ///< privacy, Kairouz, Liu, Steinke, arXiv 2102.06387); requires secure sums
  aggregator,  ///< the aggregator adds the noise before it returns the sum, and sees the sums of sites without noise
  each_site,   ///< each site adds the full noise: its messages are private by themselves, and the sum has n times the
               ///< variance
};

struct PrivacyOptions {
  double clip = 1.0;              ///< C: largest norm of one example's gradient
  double noise_multiplier = 1.0;  ///< σ
  double epsilon = 0;             ///< above 0: σ is chosen so that the run spends exactly this ε
  double delta = 1e-5;
  NoiseBy noise = NoiseBy::sites_together;
};

/// Returns the parameters of PrivacyOptions, as given in a scenario.
std::vector<spec::ParameterSpec> privacy_parameters();
PrivacyOptions privacy_options(const spec::ParameterValues& values);

/// Returns why gradients of single examples are not available for this network; none: they are.
std::optional<Fault> fault_of_example_gradients(const models::Network& network);

/// Returns the σ of a run: as given, or the σ that spends ε. Throws std::invalid_argument if there is none.
double noise_multiplier_of(const PrivacyOptions& options, const RunContext& run);

/// Adds the common parts of private algorithms to a description: perturbation, parameters, supported exchanges,
/// compressors and networks, and the remark. `info` holds the algorithm's own parts, including its checks.
SynchronousMethod as_private(SynchronousMethod info);

}  // namespace dadsim::algorithms
