#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::spec {

/// What a framework adds to what lines carry: packing and unpacking of messages, a server that sums, what a round takes
/// whatever is sent. Rates are byte/s of one message at a node with nothing else to do; 0: it takes no time.
struct FrameworkSpec {
  /// What of a model goes.
  enum class Sends : std::uint8_t {
    parameters,  ///< learned numbers
    state,       ///< what is saved: tied layers twice, running statistics
    optimizer,   ///< the same with the optimizer's state
  };
  std::string name = "none";                            ///< of the table
  std::string version;                                  ///< of its row; empty: it has none
  double serialise = 0, deserialise = 0;                ///< of a client or peer
  double server_serialise = 0, server_deserialise = 0;  ///< of one core of the server
  std::int64_t server_cores = 1;   ///< messages that the server packs or unpacks at the same time at that rate
  double aggregate = 0;            ///< of what the server sums, in the order in which it comes
  double copy = 0;                 ///< of a whole payload at a client or peer, between training and framework
  bool streams = false;            ///< parts are packed, carried and unpacked side by side
  double round = 0;                ///< seconds before a server hands out models, or before peers exchange
  double per_client = 0;           ///< seconds more for each that takes part
  double polling = 0;              ///< seconds between two questions of a client for work; 0: it is told
  double longest_message = 0;      ///< bytes; a longer one cannot be sent; 0: any goes, in pieces where it has to
  std::int64_t server_models = 0;  ///< that the server holds beside one of every client
  double idle_cut = 0;             ///< seconds without a message after which a connection is lost; 0: never
  bool evaluates = false;          ///< a round's new model goes to its clients once more
  Sends sends = Sends::parameters;
  /// How its peers sum where a run leaves that to `auto`: an algorithm of the registry; empty: as the library of their
  /// devices would.
  std::string all_reduce = {};
  /// What devices compute takes so many times as long as by their own numbers. Software that trains, not software that
  /// carries messages, has this, and nothing else.
  double computing = 1;
  bool operator==(const FrameworkSpec&) const = default;

  /// Whether it adds nothing to what lines carry; what is computed may still take longer.
  bool none() const;
  /// "none", "nvflare 2.7.1", "nvflare 2.7.1 with numbers of its own".
  std::string in_words() const;
};
constexpr auto names_of(FrameworkSpec::Sends) {
  using enum FrameworkSpec::Sends;
  return std::to_array<Name<FrameworkSpec::Sends>>(
      {{parameters, "parameters"}, {state, "state"}, {optimizer, "optimizer"}});
}

/// A row of src/spec/frameworks.csv, with where it was measured.
struct FrameworkFacts {
  FrameworkSpec spec;
  /// Of software that trains: the standard deviation of the logarithm of `computing` from one table of measurements to
  /// another, and these tables, as tests/validation/residuals.csv calls them.
  double computing_spread = 0;
  std::string tables;
  std::string date, source;
};

/// All rows, in their order: of one name the newest version comes last.
const std::vector<FrameworkFacts>& framework_facts();
/// "none" and the names of the rows, each once.
std::vector<std::string> framework_names();
/// Of one name, in their order.
std::vector<std::string> framework_versions(const std::string& name);
/// The row; version empty: the last of the name. nullptr: there is none, as for "none".
const FrameworkFacts* find_framework(const std::string& name, const std::string& version);
/// What the table says of these; a FrameworkSpec of "none" where it says nothing.
FrameworkSpec framework_of_table(const std::string& name, const std::string& version);

}  // namespace dadsim::spec
