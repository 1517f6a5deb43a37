#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

/// How long a collective takes by flow, for those dates at which ranks began it.
struct FlowOutcome {
  std::vector<double> seconds;  ///< per rank, from when the first begins until it is done
  SpentSeconds spent;
};

/// The same where ranks began apart: when, per rank, from the first on.
struct FlowApart {
  std::vector<double> begins;
  FlowOutcome outcome;
};

/// What it carries, whenever they begin.
struct FlowTraffic {
  std::vector<double> sent, received;                    ///< bytes, per rank
  double messages = 0;                                   ///< that differ; rounds that are alike have the same
  std::vector<std::pair<std::int32_t, LinkLoad>> loads;  ///< of the links that carried something
};

/// Some of a task's groups, which share no link with the others of them: what they take does not depend on these.
struct FlowPart {
  std::vector<std::size_t> nodes;  ///< by rank: the first group's, then the next one's
  std::vector<std::size_t> ends;   ///< per group: the rank behind it
  std::shared_ptr<const collectives::Rounds> rounds;
  std::vector<simgrid::s4u::Host*> hosts;               ///< by rank
  std::unique_ptr<const FlowOutcome> together;          ///< where all begin together, once that is known
  std::vector<std::unique_ptr<const FlowApart>> apart;  ///< where they began apart: the last that differ, oldest first
  std::unique_ptr<const FlowTraffic> traffic;           ///< once it has been carried out
  std::unique_ptr<const MaxPlusRounds> solved;          ///< once that was asked for; may not be known
  std::unique_ptr<FlowModel> model;  ///< the same, kept: other dates are put into what it has worked out
  std::int64_t times = 0;            ///< that they have begun together
  std::optional<bool> is_large;      ///< once that was asked for
  std::optional<std::vector<FrameworkCost>> framework;  ///< by rank, once that was asked for; empty: it has none
  std::optional<std::size_t> number;                    ///< in FlowOverlaps, once it has occurred
  /// Messages that are on a link at a time, in the mean of the rounds that use it; once that was asked for.
  std::optional<std::unordered_map<std::int32_t, double>> messages_on;
  std::optional<double> software;  ///< seconds, once that was asked for
  std::vector<double> latencies;   ///< by rank of those who only send, seconds; below 0, or empty: not asked for yet
  SpentSeconds spent;              ///< otherwise
  std::vector<FlowPart> stages;    ///< where it has groups of several stages: those of each alone
};

/// The collectives of a schedule by flow: each is worked out once, and carried out again only where its ranks begin
/// apart, and not as they did lately.
class FlowCollectives {
 public:
  FlowCollectives(const Nodes& nodes, const Parts& parts, const collectives::RankLayout& layout,
                  const schedule::Schedule& schedule, Interconnect& network, bool by_closed_form);

  /// The task's groups, by part. They stay where they are.
  std::vector<FlowPart>& of(const schedule::Task& task);
  /// `dates`: per rank, when it begins, and afterwards when it is done; `earliest` and `latest` of those.
  [[nodiscard]] Refused carry_out(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                  FlowOutcome& outcome, bool follow = false);
  /// The same where they begin apart. What begins as it did lately, but for less than what counts as one date, takes
  /// what it took then. `follow`: message by message.
  [[nodiscard]] Refused carry_out_apart(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                        const FlowOutcome*& outcome, bool follow);
  /// For ranks of unequal speed, which begin apart by more than messages take: works it out for ranks that begin
  /// together, once, so that ranks that do not can enter it. Not over TCP.
  [[nodiscard]] Refused solve(FlowPart& part);
  /// Those that flow refuses if their ranks get out of step, for their messages are too many to follow each: they are
  /// carried out before all others, begun together, the largest first, so that what is refused is refused before time
  /// is spent on others. Over free links (see software()) none has to be.
  [[nodiscard]] Refused carry_out_largest(bool over_free_links = false);
  /// A step begins: what has occurred so far was in others; `known`: in the same one, and has its numbers.
  void begin_step(bool known);
  /// Messages of the part that are on a link at a time.
  std::function<double(std::int32_t link)> messages_on(FlowPart& part) {
    return [this, &part](std::int32_t link) { return messages_on(part, link); };
  }
  /// The latency of the one message, of so many bytes, that a rank of the part sends to another, seconds.
  double latency(FlowPart& part, std::size_t rank, std::size_t to, double bytes);
  /// Seconds of the part over links without limits.
  double software(FlowPart& part);
  /// Over such links every group is through that much later than the last of it begins.
  void pass_by_software(FlowPart& part, std::vector<double>& dates);
  /// Whether its messages are so many that following each takes seconds.
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
  Interconnect& network_;
  bool by_closed_form_;
  std::vector<simgrid::s4u::Host*> hosts_;                               ///< per node
  double kept_ = 0;                                                      ///< messages in models that are kept
  std::shared_ptr<FlowMemory> memory_ = std::make_shared<FlowMemory>();  ///< of all models
  PerCollective<std::vector<FlowPart>> known_;
};

}  // namespace dadsim::sim
