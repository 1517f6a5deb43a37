#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/federation_log.hpp"

namespace dadsim::study {

/// Facts given in addition to logs.
struct FederationFacts {
  std::optional<double> model_bytes;   ///< bytes of a model, in place of the logs' value
  std::optional<double> step_seconds;  ///< training time of a client per round
  std::optional<double> line;          ///< byte/s of every client, both ways
};

/// A federation derived from logs of its rounds.
struct ImportedFederation {
  std::string scenario;  ///< a complete scenario of event-driven rounds that are only timed
  std::size_t sites = 0;
  double model_bytes = 0;
  double round_seconds = 0;           ///< round time in the log, which the scenario has to reproduce
  bool line_is_assumed = false;       ///< the line is kAssumedLine, since none was given
  bool training_is_the_rest = false;  ///< the part of a round outside its transfers counts as training
};

/// byte/s: 1 Gbit/s.
inline constexpr double kAssumedLine = 125e6;

/// Returns the federation in logs of NVIDIA FLARE clients. Each line is as fast as its client's largest transfers;
/// training takes the median. Throws std::runtime_error, with a message for the user, if a log has no transfer with a
/// duration in some direction.
ImportedFederation federation_of(const std::vector<formats::ClientLog>& clients, const FederationFacts& facts);

/// Returns the federation in the log of a Flower server: rounds and clients, and the median round time. The rate of
/// lines is given, or follows from rounds and a given training time, or is kAssumedLine. Throws std::runtime_error,
/// with a message for the user, if neither the log nor the caller gives the bytes of a model.
ImportedFederation federation_of(const formats::ServerLog& server, const FederationFacts& facts);

}  // namespace dadsim::study
