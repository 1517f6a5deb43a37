#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"

// Common parts of private algorithms before any computation: their parameters, and the statement of the privacy that a
// run has spent.

namespace dadsim::algorithms {

/// Origin of the noise N(0, σ²C² I) in a sum of clipped gradients, and so the adversaries it protects from.
enum class NoiseBy : std::uint8_t {
  sites_together,  ///< each of n sites adds a share of variance σ²C² ÷ n: the sum has all of it, a single message has
                   ///< not (distributed privacy, Kairouz, Liu, Steinke, arXiv 2102.06387): requires secure sums
  aggregator,  ///< the aggregator adds it before it returns the sum: it sees the sums of sites without noise
  each_site,   ///< each site adds all of it: its messages are private on their own; the sum has n times the variance
};

struct PrivacyOptions {
  double clip = 1.0;              ///< C: largest norm of one example's gradient
  double noise_multiplier = 1.0;  ///< σ
  double epsilon = 0;             ///< above 0: σ is chosen so that the run spends exactly this
  double delta = 1e-5;
  NoiseBy noise = NoiseBy::sites_together;
};

/// Returns the parameters above, as given in a scenario.
std::vector<spec::ParameterSpec> privacy_parameters();
PrivacyOptions privacy_options(const spec::ParameterValues& values);

/// Returns why such a network has no known gradients of single examples; none: it has.
std::optional<Fault> fault_of_example_gradients(const models::Network& network);

/// Returns the σ of a run: as given, or the one that spends ε. Throws std::invalid_argument if none does.
double noise_multiplier_of(const PrivacyOptions& options, const RunContext& run);

/// Adds the common parts of private algorithms to a description: perturbation, parameters, supported exchanges,
/// compressors and networks, and the remark. `info` holds the algorithm's own parts, including its checks.
SynchronousMethod as_private(SynchronousMethod info);

}  // namespace dadsim::algorithms
