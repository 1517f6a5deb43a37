#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Costs of a framework on top of the lines: packing and unpacking of messages, a summing server, fixed time per round.
/// Rates are byte/s of one message at an otherwise idle node; 0: no time.
struct FrameworkSpec {
  /// Transmitted part of a model.
  enum class Sends : std::uint8_t {
    parameters,  ///< learned numbers
    state,       ///< saved state: tied layers twice, running statistics
    optimizer,   ///< saved state with the optimizer's state
  };
  std::string name = "none";                            ///< name in the table of frameworks
  std::string version;                                  ///< version of the table's row; empty: none
  double serialise = 0, deserialise = 0;                ///< rates of a client or peer
  double server_serialise = 0, server_deserialise = 0;  ///< rates of one core of the server
  std::int64_t server_cores = 1;   ///< messages that the server packs or unpacks at that rate at the same time
  double aggregate = 0;            ///< rate at which the server sums, in the order of arrival
  double copy = 0;                 ///< rate of a whole payload at a client or peer, between training and framework
  bool streams = false;            ///< parts are packed, carried and unpacked concurrently
  double round = 0;                ///< seconds before a server sends models, or before peers exchange
  double per_client = 0;           ///< additional seconds per participant
  double polling = 0;              ///< seconds between two requests of a client for work; 0: the server notifies it
  double longest_message = 0;      ///< bytes; longer messages cannot be sent; 0: any length, in pieces if necessary
  std::int64_t server_models = 0;  ///< models in the server's memory besides one per client
  double idle_cut = 0;             ///< seconds without a message after which a connection is lost; 0: never
  bool evaluates = false;          ///< a round's new model is sent to its clients once more
  Sends sends = Sends::parameters;
  /// Sum algorithm of its peers if a run has `auto`: a name of the registry; empty: the default of the devices'
  /// library.
  std::string all_reduce = {};
  /// Factor on the devices' computing times. Training software sets only this factor; communication software leaves it
  /// at 1.
  double computing = 1;
  bool operator==(const FrameworkSpec&) const = default;

  /// Returns whether the framework adds nothing to the lines. Computing may still take longer.
  bool none() const;
  /// Returns the framework in words: "none", "nvflare 2.7.1", "nvflare 2.7.1 with numbers of the scenario".
  std::string in_words() const;
};
constexpr auto names_of(FrameworkSpec::Sends) {
  using enum FrameworkSpec::Sends;
  return std::to_array<Name<FrameworkSpec::Sends>>(
      {{parameters, "parameters"}, {state, "state"}, {optimizer, "optimizer"}});
}

/// A row of src/spec/frameworks.csv, with its measurement.
struct FrameworkFacts {
  FrameworkSpec spec;
  /// Standard deviation of the logarithm of `computing` between tables of measurements, and these tables' names in
  /// tests/validation/residuals.csv. Only for training software.
  double computing_spread = 0;
  std::string tables;
  std::string date, source;
};

/// Returns all rows in their order; of rows with one name the newest version comes last.
const std::vector<FrameworkFacts>& framework_facts();
/// Returns "none" and the names of the rows, each once.
std::vector<std::string> framework_names();
/// Returns the versions of one name, in their order.
std::vector<std::string> framework_versions(const std::string& name);
/// Returns the row of a framework; with an empty version, the last row of the name. nullptr if there is none, as for
/// "none".
const FrameworkFacts* find_framework(const std::string& name, const std::string& version);
/// Returns the table's specification of the name and version; that of "none" if the table has no such row.
FrameworkSpec framework_of_table(const std::string& name, const std::string& version);

}  // namespace dadsim::spec
