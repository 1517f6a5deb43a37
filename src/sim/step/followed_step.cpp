#include "sim/step/followed_step.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "sim/step/collective_choice.hpp"

namespace dadsim::sim {

bool FollowedStep::serves(bool with_framework) {
  if (!parts_.single_devices() || parts_.nodes() > parts_.workers() || with_framework) return false;
  sequence_.clear();
  number_of_.assign(schedule_.tasks.size(), 0);
  std::map<const FlowPart*, double> messages_of;
  double messages = 0;
  for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
    const schedule::Task& task = schedule_.tasks[i];
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute != nullptr && compute->copy != schedule::HostCopy::none) return false;
    if (!std::holds_alternative<schedule::CollectiveTask>(task.what)) continue;
    const std::vector<FlowPart>& parts = collectives_.of(task);
    if (parts.size() != 1) return false;
    const FlowPart& part = parts.front();
    const collectives::Pace pace = part.rounds->pace();
    if (part.traffic == nullptr || part.nodes.size() != parts_.workers() || !std::ranges::is_sorted(part.nodes) ||
        pace.handshake != collectives::Pace::Handshake::eager || pace.at_once != 1)
      return false;
    const auto [own, added] = messages_of.try_emplace(&part, 0);
    if (added) own->second = CollectiveChoices::messages_of(*part.rounds);
    messages += own->second;
    if (messages > kMostMessages) return false;
    number_of_[i] = sequence_.size();
    sequence_.push_back(&part);
  }
  return !sequence_.empty();
}

void FollowedStep::run(Interconnect& network, NodeSeconds& seconds) {
  list_actions(seconds);
  streams_.assign(parts_.workers(), {});
  through_.assign(sequence_.size(), std::vector<double>(parts_.workers()));
  causes_.assign(sequence_.size(), std::vector<std::int32_t>(parts_.workers(), FlowEvents::kStart));
  std::vector<const collectives::Rounds*> rounds;
  for (const FlowPart* part : sequence_) rounds.push_back(part->rounds.get());
  FlowEvents events(network, sequence_.front()->hosts);
  events.run_together(rounds, [this](collectives::Rank rank, std::size_t next, const FlowEvents::Moment& through) {
    return go_on(static_cast<std::size_t>(rank), next, through);
  });
  const auto last = std::ranges::max_element(streams_, {}, [](const Stream& stream) { return stream.at.date; });
  events.account_for(last->at.cause);
  spent_ = events.spent();
}

void FollowedStep::list_actions(NodeSeconds& seconds) {
  actions_.clear();
  seconds_.clear();
  for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
    const schedule::Task& task = schedule_.tasks[i];
    if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
      if (compute->who != step::Role::workers) continue;
      // Computations that follow one another are one.
      if (actions_.empty() || actions_.back().kind != Action::Kind::compute) {
        actions_.push_back({.compute = seconds_.size(), .kind = Action::Kind::compute});
        seconds_.emplace_back(parts_.workers(), 0.0);
      }
      seconds.begin(*compute);
      for (std::size_t worker = 0; worker < parts_.workers(); ++worker)
        seconds_.back()[worker] += seconds.of(worker, *compute);
    } else if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) {
      if (wait->who != step::Role::workers) continue;
      actions_.push_back({.wait = number_of_[static_cast<std::size_t>(wait->collective)], .kind = Action::Kind::wait});
    } else {
      actions_.push_back({.kind = Action::Kind::begin});
    }
  }
}

/// What it does before it begins the collective; behind the last, until the step is over.
FlowEvents::Moment FollowedStep::go_on(std::size_t worker, std::size_t collective, const FlowEvents::Moment& through) {
  if (collective > 0) {
    through_[collective - 1][worker] = through.date;
    causes_[collective - 1][worker] = through.cause;
  }
  Stream& stream = streams_[worker];
  while (stream.next < actions_.size()) {
    const Action& action = actions_[stream.next++];
    if (action.kind == Action::Kind::begin) break;
    if (action.kind == Action::Kind::compute) {
      stream.at.date += seconds_[action.compute][worker];
    } else if (const double date = through_[action.wait][worker]; date > stream.at.date) {
      stream.at = {date, causes_[action.wait][worker]};
    }
  }
  return collective > 0 && through.date > stream.at.date ? through : stream.at;
}

}  // namespace dadsim::sim
