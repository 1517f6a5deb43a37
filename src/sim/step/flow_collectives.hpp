#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/flow/flow.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/collective_requests.hpp"
#include "sim/step/framework_costs.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/per_collective.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// Times of a collective by flow, for one set of dates at which ranks begin.
struct FlowOutcome {
  std::vector<double> seconds;  ///< seconds from the first beginning until a rank is done, per rank
  SpentSeconds spent;
};

/// Outcome for ranks that begin at different dates. `begins`: seconds after the first beginning.
struct FlowApart {
  std::vector<double> begins;
  FlowOutcome outcome;
};

/// Traffic of a collective, which does not depend on when ranks begin.
struct FlowTraffic {
  std::vector<double> sent, received;                    ///< bytes of each rank
  double messages = 0;                                   ///< number of distinct messages; equal rounds count once
  std::vector<std::pair<std::int32_t, LinkLoad>> loads;  ///< loads of links in use
};

/// Groups of a task that share no link with the task's other groups, so that they can be timed separately.
struct FlowPart {
  std::vector<std::size_t> nodes;  ///< nodes by rank: those of the first group, then those of the next one
  std::vector<std::size_t> ends;   ///< index after each group's last rank
  std::shared_ptr<const collectives::Rounds> rounds;
  std::vector<simgrid::s4u::Host*> hosts;               ///< hosts of the ranks
  std::unique_ptr<const FlowOutcome> together;          ///< outcome if all ranks begin together, once known
  std::vector<std::unique_ptr<const FlowApart>> apart;  ///< last distinct outcomes for ranks that began at different
                                                        ///< dates, oldest first
  std::unique_ptr<const FlowTraffic> traffic;           ///< traffic, once the part has been carried out
  std::unique_ptr<const MaxPlusRounds> solved;          ///< solution for late ranks, once requested; may be unknown
  std::unique_ptr<FlowModel> model;                     ///< model kept for other dates
  std::int64_t times = 0;                               ///< number of occurrences in which all ranks began together
  bool gets_apart = false;                              ///< true: ranks that began together did not keep in step
  std::optional<bool> is_large;                         ///< true: simulating each message would take seconds; set once
                                                        ///< requested
  std::optional<std::vector<FrameworkCost>> framework;  ///< costs by rank, set once requested; empty: no costs
  std::optional<std::size_t> number;                    ///< number in FlowOverlaps, once it has occurred
  /// Number of messages on a link at a time, averaged over the rounds that use the link; set once requested.
  std::optional<std::unordered_map<std::int32_t, double>> messages_on;
  std::optional<double> software;  ///< seconds over links without limits, set once requested
  std::vector<double> latencies;   ///< latency of each rank that only sends, seconds; negative, or empty: not requested
                                   ///< yet
  SpentSeconds spent;              ///< seconds by cause of occurrences other than `together`
  std::vector<FlowPart> stages;    ///< parts of single stages, if the part includes groups of several stages
};

/// Collectives of a schedule by flow. Each is computed once, and again only if its ranks begin at different dates that
/// do not match recent ones.
class FlowCollectives {
 public:
  FlowCollectives(const Nodes& nodes, const Parts& parts, const collectives::RankLayout& layout,
                  const schedule::Schedule& schedule, Interconnect& network, bool by_closed_form);

  /// Returns the parts of the task's groups. References stay valid.
  std::vector<FlowPart>& of(const schedule::Task& task);
  /// Carries out a part. `dates`: per rank, when it begins; afterwards, when it is done. `earliest` and `latest`: first
  /// and last beginning.
  [[nodiscard]] Refused carry_out(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                  FlowOutcome& outcome, bool follow = false);
  /// Carries out a part whose ranks begin at different dates. Beginnings that match recent ones, within the precision
  /// of dates, reuse their outcome. `follow`: simulates message by message.
  [[nodiscard]] Refused carry_out_apart(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                        const FlowOutcome*& outcome, bool follow);
  /// Solves a part for ranks that begin together, so that late ranks can enter it. Needed for ranks of unequal speed,
  /// whose dates differ by more than messages take. The solution is unknown by the closed form, or if a link may lose
  /// packets. `of_ranks`: as in EventRounds::run.
  [[nodiscard]] Refused solve(FlowPart& part, bool of_ranks = false);
  /// Lets ranks enter a solved part at `dates`, which become the dates at which they are done.
  [[nodiscard]] Refused enter(FlowPart& part, std::vector<double>& dates);
  /// Sets whether solve() may use messages of a run that began at another date. Its dates then differ by rounding.
  void reuse_runs(bool reuses) { reuses_ = reuses; }
  /// Carries out the collectives that have too many messages to simulate if ranks get out of step. Ranks begin
  /// together, and the largest collective comes first, so that a refusal is found early. Over free links (see
  /// software()) no collective is refused.
  [[nodiscard]] Refused carry_out_largest(bool over_free_links = false);
  /// Begins a step. `known`: the step is the same as before, so that numbers in FlowOverlaps stay valid.
  void begin_step(bool known);
  /// Returns a function for the number of the part's messages on a link at a time.
  std::function<double(std::int32_t link)> messages_on(FlowPart& part) {
    return [this, &part](std::int32_t link) { return messages_on(part, link); };
  }
  /// Returns the latency of the single message of `bytes` that a rank of the part sends to another, seconds.
  double latency(FlowPart& part, std::size_t rank, std::size_t to, double bytes);
  /// Returns the seconds of the part over links without limits.
  double software(FlowPart& part);
  /// Sets the end of each group: the date at which its last rank begins plus the seconds of software.
  void pass_by_software(FlowPart& part, std::vector<double>& dates);
  /// Returns whether simulating each message would take seconds.
  bool is_large(FlowPart& part) const;

  template <class Visit>
  void for_each(const Visit& visit) {
    known_.for_each([&](std::vector<FlowPart>& parts) {
      for (FlowPart& part : parts) {
        visit(part);
        for (FlowPart& of_stage : part.stages) visit(of_stage);
      }
    });
  }
  simgrid::s4u::Host* host(std::size_t node) const { return hosts_[node]; }

 private:
  double messages_on(FlowPart& part, std::int32_t link);
  using Groups = std::vector<const collectives::RankGroup*>;
  std::vector<FlowPart> divided(const Groups& groups);
  FlowPart joined(const Groups& groups) const;
  FlowTraffic traffic_of(const FlowPart& part, std::vector<LinkLoad> loads);
  void load(const FlowPart& part, collectives::Rank from, const collectives::Transfer& transfer, double times,
            std::vector<LinkLoad>& loads);

  const Parts& parts_;
  const collectives::RankLayout& layout_;
  const schedule::Schedule& schedule_;
  BesideKernels beside_;
  Interconnect& network_;
  bool by_closed_form_, reuses_ = false;
  std::vector<simgrid::s4u::Host*> hosts_;                               ///< host of each node
  double kept_ = 0;                                                      ///< number of messages in kept models
  std::shared_ptr<FlowMemory> memory_ = std::make_shared<FlowMemory>();  ///< memory shared by all models
  PerCollective<std::vector<FlowPart>> known_;
};

}  // namespace dadsim::sim
