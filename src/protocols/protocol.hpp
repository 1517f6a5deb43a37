#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/method.hpp"
#include "protocols/learning.hpp"
#include "protocols/sizing.hpp"
#include "spec/specification.hpp"
#include "step/participation.hpp"
#include "world/event_loop.hpp"
#include "world/history.hpp"

namespace dadsim::protocols {

/// Counts and records of a protocol's simulation, for the result. The protocol's decisions do not depend on them.
struct ProtocolLog : step::Participation {
  /// A model to evaluate, and the counts when it became available.
  struct Version {
    double at = 0;             ///< date in seconds
    std::int64_t updates = 0;  ///< rounds, or updates of the model, until then
    double samples = 0;        ///< samples trained with until then, useful or not
    double bytes = 0;          ///< bytes sent by all nodes until then
    world::Value quality;      ///< quality: scalars loss, accuracy, auc
  };
  /// Resets the counts for a run of `sites` sites.
  explicit ProtocolLog(std::size_t sites = 0) { took_part.assign(sites, 0); }
  /// Counts a site's contribution to a model.
  void count_used(std::size_t site) {
    ++answered;
    ++took_part[site];
  }
  /// Records the end of a client's part in a round or update, unless kMostParts are recorded already.
  void note(const Part& part) {
    if (parts.size() < kMostParts) parts.push_back(part);
  }

  std::vector<Version> versions;
  world::Value last;                                  ///< weights of the last version
  std::vector<std::string> remarks;                   ///< remarks for the result
  std::optional<methods::PrivacySpent> privacy = {};  ///< privacy spent; none: the protocol adds no noise
};

using methods::MethodInfo;
using methods::Needs;
using methods::RunFacts;
using methods::RunFaults;
using methods::Sharing;
using world::Datum;
using world::History;
using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

/// Environment of a protocol: one run of a scenario.
struct Setting {
  world::EventLoop& loop;
  Learning& learning;
  const Sizing& sizing;
  const spec::RunSpec& run;
  std::size_t sites = 0;
  world::Node server = -1;  ///< the aggregator; −1 if there is none
  ProtocolLog& log;
  bool clients_evaluate = false;          ///< true: the framework sends a round's new model to its clients for
                                          ///< evaluation
  std::vector<std::size_t> regions = {};  ///< region of each site's host; empty: all sites are in one region

  const spec::TrainingSpec& training() const { return learning.problem().training; }
  std::uint64_t seed() const { return learning.problem().seed; }
  const spec::ParameterValues& parameters() const { return run.parameters; }
  /// Returns the run's value of a parameter.
  auto value(const auto& parameter) const { return parameter.of(run.parameters); }

  /// Sends a lost message again. `news`: channel on which the sender learns of another loss.
  void send_again(world::Node from, world::Node to, world::Channel channel, world::Parcel lost,
                  world::Channel news) const;
  /// Adds a new model. It is evaluated if due (every training().evaluate_every updates; 0: every `usual`), and if it is
  /// the last. The simulation ends with `last`, or at the target accuracy if the run stops there. Returns true if the
  /// simulation ends: the caller must begin nothing more.
  bool new_version(const world::Value& weights, std::int64_t usual, bool last = false) const;
  /// Returns true if training has used up the budget's epochs.
  bool budget_spent() const;
};

/// Joins lists of parameters or of faults.
template <class T>
std::vector<T> joined(std::initializer_list<std::vector<T>> lists) {
  std::vector<T> all;
  for (const std::vector<T>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
using Parameters = std::vector<spec::ParameterSpec>;

/// An event-driven algorithm: a coroutine for each participant, written against an EventLoop.
///
/// *Ensures*: the protocol passes messages and computations to the EventLoop, with the sizes of Sizing. All learned
/// values come from Learning or from operations of its History. Each new model is reported to Setting::new_version().
/// All random decisions depend on the seed. The protocol's page in docs/algorithms describes the failure of a
/// participant.
///
/// EXAMPLE: src/protocols/federated/fed_avg.cpp.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Adds the participants to the event loop. The protocol must outlive the simulation.
  virtual void begin() = 0;
  /// Completes the log once the simulation is over.
  virtual void end() {}
};

/// A method of the registry: its description, and the function that makes an instance for a run.
struct EventDrivenMethod : MethodInfo {
  std::function<std::unique_ptr<Protocol>(const Setting&)> make;
};

}  // namespace dadsim::protocols
