#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

// What private algorithms have in common before anything is computed: their parameters, and what a result says of the
// privacy that a run has spent.

namespace dadsim::algorithms {

/// Who adds the noise N(0, σ²C² I) to a sum of clipped gradients, and so whom it protects from.
enum class NoiseBy : std::uint8_t {
  sites_together,  ///< each of n sites a share of variance σ²C² ÷ n: the sum has the whole, a message of one site has
                   ///< not (Kairouz, Liu, Steinke, arXiv 2102.06387, call it distributed privacy): under secure sums
  aggregator,  ///< the aggregator, before it hands the sum back: it sees the sums of sites without noise
  each_site,   ///< each site the whole: its messages are private as they are; the sum has n times the variance
};

struct PrivacyOptions {
  double clip = 1.0;              ///< C: the norm that one example's gradient has at most
  double noise_multiplier = 1.0;  ///< σ
  double epsilon = 0;             ///< above 0: σ is what spends just this in the run
  double delta = 1e-5;
  NoiseBy noise = NoiseBy::sites_together;
};

/// The parameters above, as they are given in a scenario.
std::vector<spec::ParameterSpec> privacy_parameters();
PrivacyOptions privacy_options(const spec::ParameterValues& values);

/// Why the gradients of single examples of such a network are not known; none: they are.
std::optional<Fault> fault_of_example_gradients(const models::Network& network);

/// σ of a run: as given, or that which spends ε. Throws std::invalid_argument where none does.
double noise_multiplier_of(const PrivacyOptions& options, const RunContext& run);

/// Says of an algorithm all that is the same for private ones: that it perturbs, its parameters, which exchanges,
/// compressors and networks it goes with, and its remark. `info` has what is its own, also of what is checked.
SynchronousMethod as_private(SynchronousMethod info);

}  // namespace dadsim::algorithms
