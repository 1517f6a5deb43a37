#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Costs of a communication framework in addition to the lines: packing and unpacking messages, summing at a server,
/// fixed times per round. Rates are byte/s of one message at an otherwise idle node; 0: takes no time.
struct FrameworkSpec {
  /// Part of a model that is sent.
  enum class Sends : std::uint8_t {
    parameters,  ///< learned parameters
    state,       ///< saved state (state_dict): tied layers twice, running statistics
    optimizer,   ///< saved state and the optimizer's state
  };
  std::string name = "none";                            ///< name in the table of frameworks
  std::string version;                                  ///< version of the table's row; empty: none
  double serialise = 0, deserialise = 0;                ///< byte/s at which a client or peer packs and unpacks
  double server_serialise = 0, server_deserialise = 0;  ///< byte/s at which one core of the server packs and unpacks
  std::int64_t server_cores = 1;   ///< number of messages that the server packs or unpacks concurrently at that rate
  double aggregate = 0;            ///< byte/s at which the server sums, in the order of arrival
  double copy = 0;                 ///< byte/s at which a client or peer copies a payload between training and framework
  bool streams = false;            ///< true: parts are packed, sent and unpacked concurrently
  double round = 0;                ///< seconds per round, before a server sends models or peers exchange
  double per_client = 0;           ///< additional seconds per participant
  double polling = 0;              ///< seconds between a client's requests for work; 0: the server notifies the client
  double longest_message = 0;      ///< largest number of bytes in a message; 0: no limit, long messages are sent in
                                   ///< pieces
  std::int64_t server_models = 0;  ///< number of models in the server's memory, in addition to one per client
  double idle_cut = 0;             ///< seconds without a message until a connection is cut; 0: never
  bool evaluates = false;          ///< true: a round's new model is sent once more to the round's clients
  Sends sends = Sends::parameters;
  /// Sum algorithm of peers in runs with `auto`: a name of the registry; empty: the default of the devices' library.
  std::string all_reduce = {};
  /// Factor on the devices' computing times, set for training software; 1 for communication software.
  double computing = 1;
  bool operator==(const FrameworkSpec&) const = default;

  /// Returns whether the framework adds no time to the lines. Computing may still take longer.
  bool none() const;
  /// Returns the framework in words: "none", "nvflare 2.7.1", "nvflare 2.7.1 with overheads set in the scenario".
  std::string in_words() const;
};
constexpr auto names_of(FrameworkSpec::Sends) {
  using enum FrameworkSpec::Sends;
  return std::to_array<Name<FrameworkSpec::Sends>>(
      {{parameters, "parameters"}, {state, "state"}, {optimizer, "optimizer"}});
}

/// A row of src/spec/frameworks.csv with its sources.
struct FrameworkFacts {
  FrameworkSpec spec;
  /// Standard deviation of the logarithm of `computing` between tables of measurements, and the names of these tables
  /// in tests/validation/residuals.csv. Only for training software.
  double computing_spread = 0;
  std::string tables;
  std::string date, source;
};

/// Returns all rows in order; among rows with one name, the newest version is last.
const std::vector<FrameworkFacts>& framework_facts();
/// Returns "none" and the names of the rows without repetition.
std::vector<std::string> framework_names();
/// Returns the versions of one name, in order.
std::vector<std::string> framework_versions(const std::string& name);
/// Returns the row of a framework; with an empty version, the last row with the name; nullptr if there is none, as for
/// "none".
const FrameworkFacts* find_framework(const std::string& name, const std::string& version);
/// Returns the specification in the row of the name and version; that of "none" if there is no such row.
FrameworkSpec framework_of_table(const std::string& name, const std::string& version);

}  // namespace dadsim::spec
