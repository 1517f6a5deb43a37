#include <algorithm>
#include <utility>
#include <variant>

#include "protocols/partial/partial_participation.hpp"

namespace dadsim::protocols {

using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

// ---- the sites ----

/// A site is through with a step, or the aggregator is: what is there to be told, and what can be forgotten.
void PartialParticipation::through(std::int64_t at) {
  const auto found = steps_.find(at);
  if (ended_ || found == steps_.end() || !found->second.closed) return;
  const Step& now = found->second;
  bool all = true;
  bool merged = true;
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    // Who has come back since begins with a later step.
    if (!member_[site] || site_at_[site] > at || now.done[site]) continue;
    all = false;
    merged = merged && !now.in_time[site];
  }
  ProtocolLog& log = setting_.log;
  if (log.updates == at && (barrier_ ? all : merged)) {
    log.updates = at + 1;
    const bool last = log.updates >= setting_.learning.budget();
    const Value weights = setting_.learning.without_state(models_.at(at + 1));
    ended_ = setting_.new_version(weights, setting_.learning.steps_per_epoch(), last);
    if (ended_) return;
    for (std::size_t site = 0; barrier_ && site < setting_.sites; ++site) {
      if (member_[site]) setting_.loop.hand(node_of(site), kGo, {.number = at});
    }
    through(at + 1);
  }
  if (!all || !now.distributed || log.updates <= at) return;
  steps_.erase(at);
  models_.erase(at);
}

void PartialParticipation::ask_for_weights(std::size_t site) {
  Parcel pull{.bytes = kNotice, .number = kPull - asking_[site] + 1};
  setting_.loop.send(node_of(site), setting_.server, kUp, std::move(pull), kLost);
}

Task<> PartialParticipation::site(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  if (began_[number] || loop.now() > 0) {  // it was away, or joins late
    ++asking_[number];
    ask_for_weights(number);
    here_[number].clear();
    for (;;) {  // those of an earlier time that it was away may come now
      const Parcel weights = co_await loop.receive(me, kWeights);
      if (weights.back) {  // what the aggregator had heard, and had sent, was lost with it: one more time that it asks
        ++asking_[number];
        ask_for_weights(number);
      }
      if (!weights.gone && !weights.back && weights.number == site_at_[number]) break;
    }
  }
  began_[number] = true;
  while (site_at_[number] < setting_.learning.budget()) {
    const std::int64_t at = site_at_[number];
    co_await play_site(number, at);
    steps_.at(at).done[number] = true;
    ++site_at_[number];
    through(at);
    if (ended_) co_return;
    // A step that was under way as it came back opens an earlier barrier than its own.
    for (std::int64_t opened = at - 1; barrier_ && opened < at;) {
      const Parcel go = co_await loop.receive(me, kGo);
      opened = go.number;
    }
  }
}

/// A site's part of a step. What is computed in a row is one computation.
Task<> PartialParticipation::play_site(std::size_t number, std::int64_t at) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  step(at);
  const SchedulePtr asked = steps_.at(at).schedule;
  const auto count = asked->tasks.size();
  const std::int64_t first = first_message(at);
  const bool takes_part = steps_.at(at).asked[number] && !steps_.at(at).closed;
  const algorithms::LearningProblem& problem = setting_.learning.problem();
  if (takes_part) {
    const SiteBatches own(SiteBatches::How::steps, problem.training, problem.partition, number, problem.seed);
    setting_.log.samples += static_cast<double>(own.size(at));
    ++setting_.log.asked;
  }
  bool waited = false;
  std::size_t computing_from = count;
  double measured = takes_part ? setting_.sizing.timed().step_seconds : 0;
  const double begin = loop.now();
  for (std::size_t task = 0; task <= count; ++task) {
    const SchedulePtr schedule = steps_.at(at).merged ? steps_.at(at).merged : asked;
    const schedule::Task* now = task < std::min(count, schedule->tasks.size()) ? &schedule->tasks[task] : nullptr;
    const auto* compute = now != nullptr ? std::get_if<schedule::ComputeTask>(&now->what) : nullptr;
    const bool mine = compute != nullptr && compute->who == step::Role::workers;
    if (mine && (takes_part || waited)) {
      computing_from = std::min(computing_from, task);
      continue;
    }
    const auto* wait = now != nullptr ? std::get_if<schedule::WaitTask>(&now->what) : nullptr;
    const bool sends = now != nullptr && is_gather(*now) && takes_part;
    const bool waits = wait != nullptr && wait->who == step::Role::workers;
    if (task < count && !sends && !waits) continue;  // of the aggregator's
    if (computing_from < task) {
      Work work = piece(waited ? schedule : asked, step::Role::workers, number, computing_from, task, at);
      computing_from = count;
      // What a step was measured to take, it takes before anything of it is sent.
      if (!waited) work.seconds = std::exchange(measured, 0);
      co_await loop.compute(me, std::move(work));
    }
    if (sends) {
      Parcel parcel{.bytes = collective_of(asked->tasks[task])->bytes[number],
                    .number = first + static_cast<std::int64_t>(task)};
      if (parcel.bytes > 0) loop.send(me, setting_.server, kUp, std::move(parcel), kLost);
    }
    if (!waits) continue;
    if (!waited && takes_part && steps_.at(at).closed && !complete(steps_.at(at), number)) {
      setting_.log.wasted_seconds += loop.now() - begin;
    }
    waited = true;
    // What is sent again may come after what is of the next step.
    std::set<std::int64_t>& here = here_[number];
    while (!here.contains(first + wait->collective)) {
      if (here.contains(first)) break;  // the notice that the step is given up: the first task sends nothing
      const Parcel parcel = co_await loop.receive(me, kDown);
      if (parcel.number >= first) here.insert(parcel.number);
    }
    if (here.contains(first)) break;
  }
  const auto is_here = [&](std::int64_t message) { return here_[number].contains(message); };
  while (ends_with_a_notice(steps_.at(at)) && !is_here(first) && !is_here(over_message(at))) {
    const Parcel parcel = co_await loop.receive(me, kDown);
    if (parcel.number >= first) here_[number].insert(parcel.number);
  }
  std::erase_if(here_[number], [behind = first_message(at + 1)](std::int64_t one) { return one < behind; });
}

/// Runs beside the node's other work and resends what was lost. A site that went down gets no resent messages.
Task<> PartialParticipation::send_again(Node me) {
  world::EventLoop& loop = setting_.loop;
  double patience = 1;  // seconds
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kLost);
    const Node to = parcel.from;
    co_await loop.sleep(me, patience);
    while (to == setting_.server && !loop.is_up(to)) {
      patience = std::min(2 * patience, 3600.0);
      co_await loop.sleep(me, patience);
    }
    const bool here = loop.is_up(to);
    patience = here ? 1 : patience;
    // A site that has been away since asks for what it needs.
    if (!here || (to != setting_.server && !member_[static_cast<std::size_t>(to)])) continue;
    const world::Channel channel = to == setting_.server ? kUp : parcel.values.empty() ? kDown : kWeights;
    ++setting_.log.retried;
    Parcel again{.values = std::move(parcel.values), .bytes = parcel.bytes, .number = parcel.number};
    loop.send(me, to, channel, std::move(again), kLost);
  }
}

}  // namespace dadsim::protocols
