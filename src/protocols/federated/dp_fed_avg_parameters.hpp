#pragma once

#include <cstdint>

#include "algorithms/private/privacy.hpp"
#include "spec/parameter.hpp"

// Parameters of dp-fedavg.

namespace dadsim::protocols {

/// Whose presence noise hides.
enum class HiddenLevel : std::uint8_t { client, sample };

inline constexpr auto kLevel = spec::choice<HiddenLevel>(
    "level", {{"client", HiddenLevel::client}, {"sample", HiddenLevel::sample}},
    "client: hide the presence of a client with all its samples; sample: hide a sample (with noise=\"per-site\")");
inline constexpr spec::RealParameter kClipOfUpdates{
    "clip", 1e-9, 1e30, "1", "norm C that the update of a client (level=sample: the gradient of a sample) has at most"};
inline constexpr spec::RealParameter kUpdateNoise{
    "noise-multiplier", 0, 1e6, "1",
    "σ: the standard deviation of the noise in units of C; 0: none; only without epsilon"};
inline constexpr spec::RealParameter kUpdateEpsilon{
    "epsilon", 0, 1e6, "0",
    "ε that all rounds of the run spend at most, from which σ follows; 0: noise-multiplier says it"};
inline constexpr spec::RealParameter kUpdateDelta{"delta", 1e-300, 0.5, "1e-5", "δ at which ε is spent"};
inline constexpr auto kUpdateNoiseBy = spec::choice<algorithms::NoiseBy>(
    "noise",
    {{"central", algorithms::NoiseBy::aggregator},
     {"local", algorithms::NoiseBy::sites_together},
     {"per-site", algorithms::NoiseBy::each_site}},
    "central: the server adds it to the sum; local: every client adds a share, and the sum has all of it; per-site: "
    "every client adds all of it to its own messages");
inline constexpr spec::RealParameter kDropOuts{
    "drop-outs", 0, 0.95, "0",
    "noise=local: share of the clients of a round that may drop out; with more, the round releases nothing"};
inline constexpr spec::RealParameter kChance{
    "fraction", 1e-4, 1, "1", "chance q of each client to join a round, independent of the others (Poisson sampling)"};

}  // namespace dadsim::protocols
