#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/federation_log.hpp"

namespace dadsim::study {

/// What is said beside logs.
struct FederationFacts {
  std::optional<double> model_bytes;   ///< in the place of what logs say
  std::optional<double> step_seconds;  ///< that a client trains in a round
  std::optional<double> line;          ///< byte/s of every client, both ways
};

/// A federation as logs of its rounds describe it.
struct ImportedFederation {
  std::string scenario;  ///< a whole one, of event-driven rounds that are timed alone
  std::size_t sites = 0;
  double model_bytes = 0;
  double round_seconds = 0;           ///< of the log: what a round of the scenario has to take
  bool line_is_assumed = false;       ///< nobody said what lines carry: kAssumedLine
  bool training_is_the_rest = false;  ///< what a round takes beyond its transfers is taken for training
};

/// byte/s: 1 Gbit/s.
inline constexpr double kAssumedLine = 125e6;

/// Of the logs of clients of NVIDIA FLARE: the lines of each as quick as its largest transfers were, its training as
/// long as it took in the median. Throws std::runtime_error, in words, where a log has no transfer in some direction,
/// or none that took time.
ImportedFederation federation_of(const std::vector<formats::ClientLog>& clients, const FederationFacts& facts);

/// Of the log of a server of Flower: rounds and clients, and how long rounds took in the median. Lines are as fast as
/// said, or as what rounds take beside the training that is said lets them be; without either kAssumedLine. Throws
/// std::runtime_error, in words, where neither the log nor anybody says the bytes of a model.
ImportedFederation federation_of(const formats::ServerLog& server, const FederationFacts& facts);

}  // namespace dadsim::study
