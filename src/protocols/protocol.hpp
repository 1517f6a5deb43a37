#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "protocols/learning.hpp"
#include "protocols/sizing.hpp"
#include "protocols/tally.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"
#include "world/play.hpp"

namespace dadsim::protocols {

/// What a protocol has to do with: one run of a scenario.
struct Setting {
  world::Play& play;
  Learning& learning;
  const Sizing& sizing;
  const spec::RunSpec& run;
  std::size_t sites = 0;
  world::Node server = -1;  ///< the aggregator; −1 if there is none
  Tally& tally;

  const spec::TrainingSpec& training() const { return learning.problem().training; }
  std::uint64_t seed() const { return learning.problem().seed; }
  const spec::ParameterValues& parameters() const { return run.parameters; }
  std::int64_t integer(const std::string& parameter) const;
  double real(const std::string& parameter) const;
  const std::string& choice(const std::string& parameter) const { return run.parameters.at(parameter); }

  /// There is a new model. It is evaluated where that is due (every training().evaluate_every updates; 0: every
  /// `usual`), and always where it is the last. The play ends where the target is reached and that is what is asked
  /// for, or where `last`. True if it ends: nothing more is to be begun then.
  bool new_version(const world::Value& weights, std::int64_t usual, bool last = false) const;
  /// Whether the samples that were trained with make up the epochs of the budget.
  bool budget_spent() const;
};

/// An event-driven algorithm: a coroutine for each participant, written against a Play.
///
/// *Ensures*: what is sent and computed is told to the Play in the sizes of Sizing; what is learned is made by Learning
/// or by operations of its History; new models are told by Setting::new_version(); all that decides is drawn from the
/// seed. A protocol says what it does when a participant fails (ProtocolInfo::on_failure).
///
/// EXAMPLE: src/protocols/fed_avg.cpp.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Joins the participants. The protocol outlives the play.
  virtual void begin() = 0;
};

/// Everything there is to know about a protocol without playing it.
struct ProtocolInfo {
  std::string name;                  ///< as in <run algorithm="…">
  std::string description;           ///< one sentence
  std::string source;                ///< paper
  std::string payload;               ///< what a participant sends, and when; d parameters
  std::string family = "federated";  ///< what kind of method it is: see docs/algorithms/README.md
  std::string on_failure;            ///< one sentence: wait, drop, retry
  bool remembers = true;             ///< <compress memory="true"> means something to it
  bool follows_drift = true;         ///< its sites train with the data that they have by then
  bool needs_server = true;          ///< an aggregator
  bool plain_sgd = false;            ///< the scenario's optimizer has to be SGD without momentum
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Protocol>(const Setting&)> make;
  /// What is wrong with these parameters together for so many sites; none: nothing.
  std::function<std::optional<Fault>(const spec::ParameterValues&, std::size_t sites)> check = nullptr;
  /// Whether it sends by the run's <compress> with these parameters; none: always.
  std::function<bool(const spec::ParameterValues&)> compresses = nullptr;
  /// What it keeps on every worker beyond what any training does; none: nothing.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = {};
  /// How many models this machine holds at a time while it is learned, at least: what clients have trained, and what of
  /// it has arrived, is held until it has gone into a model, and a model until those who train from it have done so
  /// (docs/event-driven.md). None: one. `fails`: participants may.
  std::function<double(const spec::ParameterValues&, double sites, bool fails)> models_held = {};
};

}  // namespace dadsim::protocols
