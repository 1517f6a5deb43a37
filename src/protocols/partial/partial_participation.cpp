#include "protocols/partial/partial_participation.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <ranges>
#include <utility>
#include <variant>

#include "algorithms/registry.hpp"
#include "algorithms/site_weights.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {

using world::kNever;
using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

namespace {

/// The algorithm's own parameters are among the run's; those that it must not have are at their defaults.
spec::RunSpec run_with_all(const spec::RunSpec& run, const std::string& algorithm) {
  spec::RunSpec own = run;
  for (const auto& [name, value] : default_parameters(algorithms::algorithm_registry().at(algorithm))) {
    own.parameters.try_emplace(name, value);
  }
  return own;
}

}  // namespace

PartialParticipation::PartialParticipation(const Setting& setting, const std::string& algorithm)
    : setting_(setting),
      shared_(setting.learning, setting.sizing, run_with_all(setting.run, algorithm), algorithm),
      deadline_(setting.value(kDeadline)),
      factors_(algorithms::site_factors(setting.run.weights, setting.training(), setting.learning.problem().partition)),
      unbiased_(setting.value(kUnbiased)),
      barrier_(setting.value(kBarrier)),
      member_(setting.sites, true),
      site_at_(setting.sites, 0),
      began_(setting.sites, false),
      asking_(setting.sites, 0),
      answered_(setting.sites, 0),
      here_(setting.sites),
      in_time_(setting.sites, 0),
      asked_(setting.sites, 0) {
  const double wanted = std::round(setting.value(kFraction) * static_cast<double>(setting.sites));
  per_step_ = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, setting.sites);
}

void PartialParticipation::begin() {
  models_[0] = setting_.learning.initial_with_state();
  setting_.log.took_part.assign(setting_.sites, 0);
  setting_.loop.join(setting_.server, "aggregator", [this] { return server(); });
  setting_.loop.join(setting_.server, "sending again", [this] { return send_again(setting_.server); });
  for (std::size_t number = 0; number < setting_.sites; ++number) {
    setting_.loop.watch(setting_.server, node_of(number), kUp);
    setting_.loop.watch(node_of(number), setting_.server, kWeights);
    setting_.loop.join(node_of(number), "site", [this, number] { return site(number); });
    setting_.loop.join(node_of(number), "sending again", [this, number] { return send_again(node_of(number)); });
  }
}

// ---- steps ----

std::vector<bool> PartialParticipation::choose(std::int64_t number) const {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < setting_.sites; ++i) {
    if (member_[i] && setting_.loop.is_up(node_of(i))) there.push_back(i);
  }
  RandomStream random(setting_.seed(), Purpose::participation, 1, static_cast<std::uint32_t>(number));
  const std::size_t count = std::min(per_step_, there.size());
  for (std::size_t i = 0; i < count && count < there.size(); ++i) {
    const std::size_t j = boost::random::uniform_int_distribution<std::size_t>(i, there.size() - 1)(random);
    std::swap(there[i], there[j]);
  }
  std::vector<bool> asked(setting_.sites, false);
  for (std::size_t i = 0; i < count; ++i) asked[there[i]] = true;
  return asked;
}

SharedStep::Sites PartialParticipation::sites_of(std::int64_t number, const std::vector<bool>& there,
                                                 bool weighted) const {
  SharedStep::Sites sites{.number = number, .there = there, .weights = {}};
  const bool everyone = std::ranges::find(there, false) == there.end();
  const bool present_alone = !unbiased_ || (everyone && per_step_ == setting_.sites && deadline_ == 0);
  if (!weighted || (present_alone && factors_.empty())) return sites;
  const algorithms::LearningProblem& problem = setting_.learning.problem();
  double all = 0;
  double present = 0;
  double worth = 0;  // of those that are there
  std::vector<double> rows;
  for (std::size_t site = 0; site < there.size(); ++site) {
    const SiteBatches own(SiteBatches::How::steps, problem.training, problem.partition, site, problem.seed);
    rows.push_back(static_cast<double>(own.size(number)));
    all += rows.back();
    if (!there[site]) continue;
    present += rows.back();
    worth += rows.back() * (factors_.empty() ? 1.0 : static_cast<double>(factors_[site]));
  }
  if (present_alone) {
    for (const float factor : factors_) {
      sites.weights.push_back(everyone ? factor : static_cast<float>(present / worth * static_cast<double>(factor)));
    }
    return sites;
  }
  const double share = static_cast<double>(per_step_) / static_cast<double>(setting_.sites);
  for (std::size_t site = 0; site < there.size(); ++site) {
    // So far: one more success in one more trial, so that no chance is nought before anything is known.
    const double chance = deadline_ > 0 ? (in_time_[site] + 1) / (asked_[site] + 1) : 1;
    // What is learned weighs the part by N_s ÷ Σ_P N.
    const double factor = factors_.empty() ? 1.0 : static_cast<double>(factors_[site]);
    sites.weights.push_back(static_cast<float>(factor * present / all / (share * std::min(1.0, chance))));
  }
  return sites;
}

/// Whether one of those sites has a sample in that step.
bool PartialParticipation::has_samples(std::int64_t number, const std::vector<bool>& there) const {
  const algorithms::LearningProblem& problem = setting_.learning.problem();
  for (std::size_t site = 0; site < there.size(); ++site) {
    if (!there[site]) continue;
    const SiteBatches own(SiteBatches::How::steps, problem.training, problem.partition, site, problem.seed);
    if (own.size(number) > 0) return true;
  }
  return false;
}

PartialParticipation::Step& PartialParticipation::step(std::int64_t number) {
  const auto found = steps_.find(number);
  if (found != steps_.end()) return found->second;
  Step& step = steps_[number];
  step.asked = choose(number);
  setting_.log.set_at_work(setting_.loop.now(), static_cast<std::size_t>(std::ranges::count(step.asked, true)));
  step.schedule = shared_.schedule(models_.at(number), sites_of(number, step.asked, false));
  step.done.assign(setting_.sites, false);
  for (std::size_t task = 0; task < step.schedule->tasks.size(); ++task) {
    if (!is_gather(step.schedule->tasks[task])) continue;
    std::vector<bool>& arrived = step.arrived[task];
    arrived.assign(setting_.sites, false);
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      arrived[site] = !(collective_of(step.schedule->tasks[task])->bytes[site] > 0);  // no message is expected
    }
  }
  return step;
}

/// Whether nothing is handed back behind the last that sites send (of rank 0, say, in the last layer): they hear that
/// the step is over.
bool PartialParticipation::ends_with_a_notice(const Step& step) {
  const auto sends_last = [](const schedule::Schedule& schedule) {
    const auto last = std::ranges::find_if(schedule.tasks | std::views::reverse,
                                           [](const schedule::Task& task) { return collective_of(task) != nullptr; });
    return last == schedule.tasks.rend() || is_gather(*last);
  };
  return sends_last(*step.schedule) || (step.merged && sends_last(*step.merged));
}

bool PartialParticipation::complete(const Step& step, std::size_t site) const {
  return step.asked[site] &&
         std::ranges::all_of(step.arrived, [site](const auto& gather) { return gather.second[site]; });
}

/// Whether none of those who were asked has anything to send.
bool PartialParticipation::expects_nothing(const Step& step) {
  return std::ranges::all_of(step.arrived, [&](const auto& gather) {
    for (std::size_t site = 0; site < step.asked.size(); ++site) {
      if (step.asked[site] && !gather.second[site]) return false;
    }
    return true;
  });
}

Work PartialParticipation::piece(const SchedulePtr& schedule, step::Role who, std::size_t entry, std::size_t first,
                                 std::size_t behind, std::int64_t at) const {
  return {.pieces = {{.schedule = schedule, .who = who, .entry = entry, .first = first, .behind = behind}}, .step = at};
}

// ---- the aggregator ----

/// A message of a site, or news of one, while the aggregator is at a step.
void PartialParticipation::take(const Parcel& parcel, std::int64_t at) {
  const auto from = static_cast<std::size_t>(parcel.from);
  if (parcel.back) return;  // it will ask for the weights
  if (parcel.number <= kPull) {
    const std::int64_t time = kPull - parcel.number + 1;
    if (time <= answered_[from] || std::ranges::find(pulls_, from) != pulls_.end()) return;
    if (member_[from]) leave(from);  // it was down at the same time as the aggregator
    pulls_.push_back(from);
    return;
  }
  if (parcel.gone) {
    std::erase(pulls_, from);
    if (member_[from]) leave(from);
    return;
  }
  const auto found = steps_.find(at);
  if (found == steps_.end() || parcel.number / kMostTasks != at || found->second.closed) {
    setting_.log.wasted_bytes += parcel.bytes;
    return;
  }
  found->second.arrived.at(static_cast<std::size_t>(parcel.number % kMostTasks))[from] = true;
}

/// It went down: nobody waits for it any more.
void PartialParticipation::leave(std::size_t site) {
  member_[site] = false;
  std::vector<std::int64_t> open;
  for (auto& [number, step] : steps_) {
    if (number < site_at_[site]) continue;
    if (step.asked[site] && !step.closed && !complete(step, site)) {
      step.asked[site] = false;
      ++setting_.log.failed;
    }
    open.push_back(number);
  }
  for (const std::int64_t number : open) through(number);
}

/// Until a gather is complete, or the deadline has passed and at least one message is there.
Task<> PartialParticipation::gather(std::int64_t at, std::size_t task, double until) {
  for (;;) {
    const Step& now = steps_.at(at);
    const std::vector<bool>& arrived = now.arrived.at(task);
    bool missing = false;
    bool any = false;
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (now.asked[site]) (arrived[site] ? any : missing) = true;
    }
    if (!missing || (any && setting_.loop.now() >= until)) co_return;
    const Parcel parcel = co_await setting_.loop.receive(setting_.server, kUp, any ? until : kNever);
    if (parcel.from >= 0) take(parcel, at);
  }
}

/// Who was in time is known now: the model after the step, and what the rest of it takes.
void PartialParticipation::merge(std::int64_t at) {
  Step& now = steps_.at(at);
  ProtocolLog& log = setting_.log;
  std::vector<bool> there(setting_.sites, false);
  for (std::size_t site = 0; site < setting_.sites; ++site) there[site] = complete(now, site);
  now.closed = true;
  now.in_time = there;
  now.given_up = !has_samples(at, there);
  if (now.given_up) {
    models_[at + 1] = models_.at(at);
  } else {
    now.merged = there == now.asked ? now.schedule : shared_.schedule(models_.at(at), sites_of(at, there, false));
    models_[at + 1] = shared_.after(models_.at(at), sites_of(at, there, true));
  }
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    if (!now.asked[site]) continue;
    ++asked_[site];
    if (!there[site]) {
      ++log.late;
      continue;
    }
    ++in_time_[site];
    ++log.took_part[site];
    ++log.answered;
  }
}

/// What sites may not have got of earlier steps, since the aggregator went down while it was on its way.
void PartialParticipation::redistribute() {
  for (const auto& [number, step] : steps_) {
    if (!step.distributed) continue;
    const SchedulePtr schedule = step.merged ? step.merged : step.schedule;
    const std::int64_t first = first_message(number);
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (!member_[site] || site_at_[site] > number || !setting_.loop.is_up(node_of(site))) continue;
      const auto send = [&, to = node_of(site)](double bytes, std::int64_t message) {
        Parcel parcel{.bytes = bytes, .number = message};
        setting_.loop.send(setting_.server, to, kDown, std::move(parcel), kLost);
      };
      if (step.given_up) send(kNotice, first);
      if (!step.given_up && ends_with_a_notice(step)) send(kNotice, over_message(number));
      for (std::size_t task = 0; task < schedule->tasks.size() && !step.given_up; ++task) {
        const schedule::CollectiveTask* collective = collective_of(schedule->tasks[task]);
        if (collective == nullptr || collective->kind != step::CollectiveKind::broadcast) continue;
        send(collective->bytes[0], first + static_cast<std::int64_t>(task));
      }
    }
  }
}

/// Until somebody has the weights and is up. Who asks for them gets them now, between two steps. All news is taken in
/// before that: a site that is given the weights must not be said to be gone by news from before.
Task<> PartialParticipation::wait_for_sites() {
  world::EventLoop& loop = setting_.loop;
  for (;;) {
    while (loop.waiting(setting_.server, kUp) > 0) {
      const Parcel parcel = co_await loop.receive(setting_.server, kUp);
      take(parcel, server_at_);
    }
    for (const std::size_t site : std::exchange(pulls_, {})) {
      member_[site] = true;
      answered_[site] = asking_[site];
      site_at_[site] = server_at_;
      Parcel weights{.bytes = setting_.sizing.plain_bytes(), .number = server_at_};
      weights.values.push_back(models_.at(server_at_));  // tells it from what has been merged
      loop.send(setting_.server, node_of(site), kWeights, std::move(weights), kLost);
    }
    bool any = false;
    for (std::size_t site = 0; site < setting_.sites; ++site) any = any || (member_[site] && loop.is_up(node_of(site)));
    if (any) co_return;
    const Parcel parcel = co_await loop.receive(setting_.server, kUp);
    take(parcel, server_at_);
  }
}

Task<> PartialParticipation::server() {
  world::EventLoop& loop = setting_.loop;
  const Node me = setting_.server;
  const auto broadcast = [&](double bytes, std::int64_t number) {
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (!member_[site] || !loop.is_up(node_of(site))) continue;
      Parcel parcel{.bytes = bytes, .number = number};
      loop.send(me, node_of(site), kDown, std::move(parcel), kLost);
    }
  };
  if (!std::exchange(server_began_, true)) {
    if (setting_.new_version(setting_.learning.without_state(models_.at(0)), 1)) co_return;
  } else {
    // What had come was lost with it, also who had asked for the weights: they hear that it is back, and ask again.
    // Those who went down meanwhile are known to be down.
    pulls_.clear();
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (member_[site] && !loop.is_up(node_of(site))) leave(site);
    }
    redistribute();
    if (const auto found = steps_.find(server_at_); found != steps_.end()) {
      found->second.closed = found->second.given_up = found->second.distributed = true;
      found->second.in_time.assign(setting_.sites, false);
      models_[server_at_ + 1] = models_.at(server_at_);
      broadcast(kNotice, first_message(server_at_));
      through(server_at_++);  // where all who were in it have gone nobody else says so
      if (ended_) co_return;
    }
  }
  for (; server_at_ < setting_.learning.budget(); ++server_at_) {
    const std::int64_t at = server_at_;
    co_await wait_for_sites();
    const double until = deadline_ > 0 ? loop.now() + deadline_ : kNever;
    step(at);
    const std::size_t count = steps_.at(at).schedule->tasks.size();
    const bool silent = expects_nothing(steps_.at(at));
    if (deadline_ > 0) {
      for (std::size_t task = 0; task < count; ++task) {
        if (steps_.at(at).arrived.contains(task)) co_await gather(at, task, until);
      }
      // That no site has anything to send the deadline alone tells.
      if (silent && loop.now() < until) co_await loop.sleep(me, until - loop.now());
      merge(at);
    }
    const std::int64_t first = first_message(at);
    for (std::size_t task = 0; task < count && !steps_.at(at).given_up; ++task) {
      const Step& now = steps_.at(at);
      const SchedulePtr schedule = now.merged ? now.merged : now.schedule;
      if (task >= schedule->tasks.size()) break;  // who is there found less than those who were asked
      const auto& what = schedule->tasks[task].what;
      if (const auto* wait = std::get_if<schedule::WaitTask>(&what)) {
        if (wait->who == step::Role::aggregator && !now.closed) {
          co_await gather(at, static_cast<std::size_t>(wait->collective), kNever);
        }
      } else if (const auto* compute = std::get_if<schedule::ComputeTask>(&what)) {
        if (compute->who == step::Role::aggregator) {
          co_await loop.compute(me, piece(schedule, step::Role::aggregator, 0, task, task + 1, at));
        }
      } else if (collective_of(schedule->tasks[task])->kind == step::CollectiveKind::broadcast) {
        broadcast(collective_of(schedule->tasks[task])->bytes[0], first + static_cast<std::int64_t>(task));
      }
    }
    if (!steps_.at(at).closed) merge(at);
    if (steps_.at(at).given_up) {
      broadcast(kNotice, first);
    } else if (ends_with_a_notice(steps_.at(at))) {
      broadcast(kNotice, over_message(at));
    }
    steps_.at(at).distributed = true;
    through(at);
    if (ended_) co_return;
  }
  // The last steps are there once those who were merged have applied them; who fails meanwhile is not waited for.
  for (;;) {
    const Parcel parcel = co_await loop.receive(me, kUp);
    take(parcel, server_at_);
    if (ended_) co_return;
  }
}

}  // namespace dadsim::protocols
