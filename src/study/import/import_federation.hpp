#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/federation_log.hpp"

namespace dadsim::study {

/// Facts that the user adds to the logs.
struct FederationFacts {
  std::optional<double> model_bytes;   ///< bytes of a model; replaces the logs' value
  std::optional<double> step_seconds;  ///< seconds that a client trains per round
  std::optional<double> line;          ///< byte/s of every client, both ways
};

/// A federation derived from logs of its rounds.
struct ImportedFederation {
  std::string scenario;  ///< complete scenario with event-driven rounds; times only, without learning
  std::size_t sites = 0;
  double model_bytes = 0;
  double round_seconds = 0;           ///< round time in the log, which the scenario has to reproduce
  bool line_is_assumed = false;       ///< no rate was given, so kAssumedLine is used
  bool training_is_the_rest = false;  ///< training time is the rest of a round after its transfers
};

/// Assumed rate of lines, byte/s: 1 Gbit/s.
inline constexpr double kAssumedLine = 125e6;

/// Derives the federation from logs of NVIDIA FLARE clients. A line has the median rate of its client's transfers of
/// models; the training time is the median over rounds. `facts` replaces these values. Throws std::runtime_error, with
/// a message for the user, if a log has no transfer with a duration in some direction.
ImportedFederation federation_of(const std::vector<formats::ClientLog>& clients, const FederationFacts& facts);

/// Derives the federation from the log of a Flower server: rounds, clients, and the median round time. The rate of
/// lines is given, or follows from rounds and a given training time, or is kAssumedLine. Throws std::runtime_error,
/// with a message for the user, if the bytes of a model, the clients or the durations are missing, or if training takes
/// longer than a round.
ImportedFederation federation_of(const formats::ServerLog& server, const FederationFacts& facts);

}  // namespace dadsim::study
