#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "protocols/learning.hpp"
#include "protocols/protocol.hpp"
#include "protocols/sizing.hpp"
#include "schedule/schedule.hpp"
#include "support/pool.hpp"

namespace dadsim::protocols {

/// A step of a synchronous algorithm with some of the sites, as values of a History. It computes the model that the
/// algorithm learns from these sites' batches, and the work and messages that the algorithm records.
class SharedStep {
 public:
  /// `run` names a synchronous algorithm; its parameters include the algorithm's own.
  SharedStep(Learning& learning, const Sizing& sizing, const spec::RunSpec& run, std::string algorithm);
  ~SharedStep();
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;

  /// Sites that take part in step `number`, and the factors of their gradients.
  struct PartialSites {
    std::int64_t number = 0;
    std::vector<bool> there;     ///< true: the site takes part, per site
    std::vector<float> weights;  ///< factor of the gradient, per site; empty: 1
  };

  /// Returns the weights, followed by the optimizer's state, after a step of these sites.
  world::Value after(const world::Value& weights_with_state, const PartialSites& sites);
  /// Returns the schedule of that step through an aggregator: its work and messages. Sizes that depend on learned
  /// numbers are resolved. Sites without samples send the messages of an empty batch.
  std::shared_ptr<const schedule::Schedule> schedule(const world::Value& weights_with_state, const PartialSites& sites);

 private:
  class PartialStage;
  world::Value gradient(const world::Value& weights, const PartialSites& sites);
  std::vector<std::vector<std::int32_t>> batches(const PartialSites& sites) const;

  Learning& learning_;
  const Sizing& sizing_;
  spec::RunSpec run_;
  std::string algorithm_;
  step::StepStructure structure_;
  /// Recorded sizes that learning decides, for sites without samples.
  std::vector<std::vector<std::int32_t>> none_in_slots_;
  spec::ModelShape learned_;
  Pool<PartialStage> stages_;
};

/// A synchronous algorithm through an aggregator, as a World program. In every step the aggregator asks some sites, and
/// merges the messages that arrive before the deadline. Participants compute and send in the order of the algorithm's
/// recorded schedule. With all sites and no deadline the result equals the algorithm's own.
///
/// A lost message is sent again after a second; while the aggregator is down, its messages wait at growing intervals of
/// up to an hour.
///
/// A late site still receives the step's result, and skips its own messages for steps that are over. A site that goes
/// down leaves the run; once up, it requests the weights and takes part from the next step. A step is given up, and no
/// site applies it, if the aggregator goes down or no site in time has samples.
///
/// A new model is available once the merged sites have applied the step; with a barrier, once all sites have.
///
/// Weights of the sites' gradients. N_s is the number of rows of site s (times algorithms::site_factors if the run sets
/// weights of sites), P the set of sites in time, and π_s the probability that site s takes part:
///   present:   N_s ÷ Σ_P N: the sum is the mean gradient over the samples of P
///   unbiased:  N_s ÷ (ΣN π_s): the expected sum is the gradient of all samples (Horvitz and Thompson, JASA 47, 1952).
///              π_s is the share of sites that are asked, times the share of steps in which this site was in time.
class PartialParticipation final : public Protocol {
 public:
  static constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "1",
                                                 "share of the sites asked per step, drawn anew each time"};
  static constexpr spec::RealParameter kDeadline{
      "deadline", 0, 1e9, "0",
      "seconds after which a step continues with the contributions received (at least one); 0: no limit"};
  static constexpr auto kUnbiased = spec::choice<bool>("estimate", {{"unbiased", true}, {"present", false}},
                                                       "unbiased: divide each contribution by its site's probability "
                                                       "of taking part; present: take the mean over the sites present");
  static constexpr auto kBarrier =
      spec::choice<bool>("barrier", {{"false", false}, {"true", true}},
                         "true: all sites begin the next step together; false: each site begins when it is ready");

  PartialParticipation(const Setting& setting, const std::string& algorithm);
  void begin() override;

 private:
  using SchedulePtr = std::shared_ptr<const schedule::Schedule>;

  static constexpr world::Channel kUp =
      "statistics";  ///< statistics of a step, or a request for weights, to the aggregator
  static constexpr world::Channel kDown = "merged";
  static constexpr world::Channel kWeights = "weights";
  static constexpr world::Channel kLost = "lost";  ///< notices of lost messages
  static constexpr world::Channel kGo = "go";      ///< notices that the barrier is open
  static constexpr std::int64_t kPull = -1;        ///< number of a site's first request for weights; later requests
                                                   ///< have lower numbers
  /// Distance between the first message numbers of consecutive steps; larger than the number of tasks in any schedule.
  static constexpr std::int64_t kMostTasks = 1 << 20;
  static std::int64_t first_message(std::int64_t at) { return at * kMostTasks; }
  /// Returns the number of the notice that ends a step whose schedule has no last message to the sites.
  static std::int64_t over_message(std::int64_t at) { return first_message(at + 1) - 1; }
  static constexpr double kNotice = 64;  ///< bytes of a message without numbers (assumed)

  /// A step that a participant has reached.
  struct PartialStep {
    std::vector<bool> asked;
    SchedulePtr schedule;       ///< schedule of the asked sites
    SchedulePtr merged;         ///< schedule of the sites in time; null: not known yet
    std::vector<bool> in_time;  ///< true: the site is in time, per site; once known
    std::vector<bool> done;     ///< true: the site has finished the step, per site
    bool closed = false;        ///< true: messages that arrive now are not merged
    bool given_up = false;
    bool distributed = false;                          ///< true: the aggregator has finished the step
    std::map<std::size_t, std::vector<bool>> arrived;  ///< true: the message has arrived, per gather and site
  };

  world::Task<> server();
  world::Task<> site(std::size_t number);
  world::Task<> play_site(std::size_t number, std::int64_t at);
  world::Task<> send_again(world::Node me);
  world::Task<> gather(std::int64_t at, std::size_t task);
  world::Task<> wait_for_sites();
  void take(const world::Parcel& parcel, std::int64_t at);
  void leave(std::size_t site);
  void redistribute();
  void ask_for_weights(std::size_t site);

  PartialStep& step(std::int64_t number);
  std::vector<bool> choose(std::int64_t number) const;
  SharedStep::PartialSites sites_of(std::int64_t number, const std::vector<bool>& there, bool weighted) const;
  /// Returns the rows of each site's batch in a step.
  std::vector<std::int64_t> rows_of(std::int64_t number) const;
  bool complete(const PartialStep& step, std::size_t site) const;
  [[nodiscard]] static double handed_back(const PartialStep& step, std::size_t task);
  [[nodiscard]] static bool ends_with_a_notice(const PartialStep& step);
  [[nodiscard]] static bool expects_nothing(const PartialStep& step);
  void merge(std::int64_t at);
  void through(std::int64_t at);
  static world::Node node_of(std::size_t site) { return static_cast<world::Node>(site); }
  static const schedule::CollectiveTask* collective_of(const schedule::Task& task) {
    return std::get_if<schedule::CollectiveTask>(&task.what);
  }
  static bool is_gather(const schedule::Task& task) {
    const schedule::CollectiveTask* collective = collective_of(task);
    return collective != nullptr && collective->kind == step::CollectiveKind::gather;
  }
  static bool is_empty(const schedule::CollectiveTask& collective) { return collective.bytes == schedule::PerWorker(); }
  world::Work piece(const SchedulePtr& schedule, step::Role who, std::size_t entry, std::size_t first,
                    std::size_t behind, std::int64_t at) const;

  Setting setting_;
  SharedStep shared_;
  world::ParticipationClock clock_;
  std::vector<float> factors_;  ///< factor on each site's part of the gradient; empty: 1
  bool unbiased_, barrier_;
  std::map<std::int64_t, PartialStep> steps_;    ///< steps that a site may still reach
  std::map<std::int64_t, world::Value> models_;  ///< models before each of these steps
  std::vector<bool> member_;                     ///< sites that have the weights
  std::vector<std::int64_t> site_at_;            ///< step that each site works on
  std::vector<bool> began_;
  std::vector<std::int64_t> asking_, answered_;  ///< number of requests for weights, and of answers, per site
  std::vector<std::set<std::int64_t>> here_;     ///< numbers of received messages that the site still needs, per site
  std::vector<std::size_t> pulls_;               ///< sites that wait for the weights
  std::int64_t server_at_ = 0;
  bool server_began_ = false, ended_ = false;
};

}  // namespace dadsim::protocols
