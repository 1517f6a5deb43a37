#include "study/absence/step_times.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "estimate/memory.hpp"
#include "schedule/restrict.hpp"
#include "study/setting/input_limit.hpp"
#include "study/setting/schedule_memory.hpp"
#include "support/interrupt.hpp"

namespace dadsim::study {
namespace {

/// One message to each of some workers: from the aggregator, or from worker 0 to the others.
schedule::Schedule message_to(std::size_t workers, bool from_aggregator, double bytes) {
  schedule::CollectiveTask message;
  message.bytes = schedule::PerWorker({bytes});
  if (from_aggregator) {
    message.kind = step::CollectiveKind::broadcast;
  } else {
    message.kind = step::CollectiveKind::neighbour_exchange;
    auto graph = std::make_shared<step::Neighbours>();
    graph->to.resize(workers);
    for (std::size_t to = 1; to < workers; ++to) graph->to[0].push_back(static_cast<std::int32_t>(to));
    message.neighbours = std::move(graph);
  }
  schedule::Schedule schedule;
  schedule.workers = workers;
  schedule.uses_aggregator = from_aggregator;
  schedule.tasks.push_back({"model", std::move(message)});
  schedule.tasks.push_back({"model", schedule::WaitTask{step::Role::workers, 0}});
  return schedule;
}

}  // namespace

StepTimes::StepTimes(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned,
                     const TimedAs& timed, const sim::Cluster& cluster)
    : run_(run),
      learned_(learned),
      timed_(timed),
      cluster_(cluster),
      sites_(scenario.workers.size()),
      decentralised_(run.decentralised),
      every_step_differs_(sim::every_step_differs(cluster)) {
  double parameters = 0;
  for (const spec::LayerShape& layer : timed.shape.layers) parameters += static_cast<double>(layer.parameters);
  constexpr double kFloat = 4;  // bytes: weights and states are kept in fp32
  model_bytes_ = kFloat * parameters * (1 + estimate::optimizer_state_per_parameter(scenario.training.optimizer));
}

StepTimes::Sites StepTimes::all_sites() const {
  Sites all(sites_);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// See Scenario::devices_of_workers.
std::vector<std::size_t> StepTimes::devices_of(const Sites& sites, bool one_device) const {
  const auto side_by_side = static_cast<std::size_t>(timed_.parallelism.of_stage());
  const std::size_t stages = one_device ? 1 : devices_per_site() / side_by_side;
  std::vector<std::size_t> devices;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const std::int32_t site : sites) {
      const std::size_t first = side_by_side * (static_cast<std::size_t>(site) + sites_ * stage);
      for (std::size_t t = 0; t < (one_device ? 1 : side_by_side); ++t) devices.push_back(first + t);
    }
  }
  return devices;
}

sim::Cluster StepTimes::cluster_of_sites(const Sites& sites, bool one_device) const {
  sim::Cluster some = cluster_;
  some.hosts.clear();
  some.devices.clear();
  for (const std::size_t device : devices_of(sites, one_device)) {
    some.hosts.push_back(cluster_.hosts[device]);
    some.devices.push_back(cluster_.devices[device]);
    some.numbers.push_back(static_cast<std::uint32_t>(device));
  }
  some.numbers.push_back(static_cast<std::uint32_t>(cluster_.hosts.size()));
  return some;
}

/// From the places of those that are there to those of all.
step::StepTiming StepTimes::in_places(step::StepTiming timing, const Sites& sites, bool one_device) const {
  const std::vector<std::size_t> devices = devices_of(sites, one_device);
  for (std::vector<double>* values : {&timing.bytes_sent, &timing.bytes_received, &timing.busy_seconds}) {
    std::vector<double> all(cluster_.hosts.size() + (values->size() > devices.size() ? 1 : 0), 0.0);
    for (std::size_t i = 0; i < values->size(); ++i) {
      all[i < devices.size() ? devices[i] : cluster_.hosts.size()] += (*values)[i];
    }
    *values = std::move(all);
  }
  return timing;
}

void StepTimes::count(const Known& known) {
  ++steps_;
  seconds_ += known.timing.seconds;
  for (const step::LinkUse& use : known.links) {
    const auto [place, is_new] = carried_.try_emplace(use.link, use);
    step::LinkUse& sum = place->second;
    if (is_new) sum.bytes_per_step = sum.busy_share = 0;
    sum.bytes_per_step += use.bytes_per_step;
    sum.busy_share += use.busy_share * known.timing.seconds;
  }
}

void StepTimes::know_all(const step::Trajectory& trajectory, const std::vector<step::Assignment>& assignment) {
  assignment_ = assignment;
  if (every_step_differs_ || trajectory.distinct_steps.empty()) return;
  std::vector<schedule::Schedule> schedules;
  for (const step::Step& step : trajectory.distinct_steps) schedules.push_back(schedule(trajectory, step));
  sim::TimingRequest request;
  request.occurrences.resize(schedules.size());
  for (const std::int32_t step : trajectory.steps) ++request.occurrences[static_cast<std::size_t>(step)];
  sim::TimedRun timed = sim::time_schedules(cluster_, schedules, {}, request);
  limit_by_input(timed_, trajectory, timed);
  network_ = timed.network;
  has_network_ = true;
  for (std::size_t i = 0; i < timed.steps.size(); ++i) {
    known_[i] = {in_places(std::move(timed.steps[i]), all_sites()), {}, timed.network.link_use};
  }
  if (timed.first)
    known_[static_cast<std::size_t>(trajectory.steps.front())].first = in_places(*timed.first, all_sites());
}

schedule::Schedule StepTimes::schedule(const step::Trajectory& trajectory, const step::Step& step) const {
  const step::Assignment* taken =
      assignment_.empty() ? nullptr : &assignment_.at(static_cast<std::size_t>(step.structure));
  schedule::Schedule schedule = schedule_of(run_, trajectory, step, learned_, timed_, taken);
  // Sites with weights of their own are taken down with those that miss the step; else there are none of these in it.
  return decentralised_ && !step.sites.empty() ? schedule::restricted(schedule, step.sites) : schedule;
}

step::StepTiming StepTimes::of(const step::Trajectory& trajectory, std::size_t index, std::int64_t number,
                               double date) {
  const Known& one = known(trajectory, index, number, date);
  count(one);
  return one.as(number);
}

step::StepTiming StepTimes::foresee(const step::Trajectory& trajectory, std::size_t index, std::int64_t number,
                                    double date) {
  return known(trajectory, index, number, date).as(number);
}

const StepTimes::Known& StepTimes::known(const step::Trajectory& trajectory, std::size_t index, std::int64_t number,
                                         double date) {
  if (interrupted().load()) throw Cancelled();
  if (const auto found = known_.find(index); found != known_.end()) return found->second;
  if (every_step_differs_ && last_asked_ == std::tuple(index, number, date)) return last_known_;
  const step::Step& step = trajectory.distinct_steps[index];
  const Sites sites = step.sites.empty() ? all_sites() : step.sites;
  const schedule::Schedule one = schedule(trajectory, step);
  sim::TimingRequest request;
  if (every_step_differs_) {
    request.first_step = static_cast<std::size_t>(number);
    request.begins_at = date;
  }
  sim::TimedRun timed = sim::time_schedules(cluster_of_sites(sites, false), std::span(&one, 1), {}, request);
  step::Trajectory alone;
  alone.distinct_steps.push_back(step);
  limit_by_input(timed_, alone, timed);
  if (!has_network_ || step.sites.empty()) {
    const double messages = network_.messages;
    network_ = timed.network;
    network_.messages += messages;
    has_network_ = true;
  } else {
    network_.messages += timed.network.messages;
  }
  Known known{in_places(timed.steps.front(), sites), {}, timed.network.link_use};
  if (timed.first && number == 0) known.first = in_places(*timed.first, sites);
  if (!every_step_differs_) return known_.emplace(index, std::move(known)).first->second;
  last_asked_ = {index, number, date};
  return last_known_ = std::move(known);
}

step::StepTiming StepTimes::hand_over(std::int32_t from, const std::vector<std::int32_t>& to, double date) {
  const std::pair<std::int32_t, Sites> key{from, to};
  if (const auto found = handed_.find(key); found != handed_.end()) return found->second;
  Sites sites;
  if (from >= 0) sites.push_back(from);
  sites.insert(sites.end(), to.begin(), to.end());
  const schedule::Schedule schedule = message_to(sites.size(), from < 0, model_bytes_);
  sim::TimingRequest request;
  if (every_step_differs_) request.begins_at = date;
  const sim::TimedRun timed = sim::time_schedules(cluster_of_sites(sites, true), std::span(&schedule, 1), {}, request);
  step::StepTiming timing = timed.first ? *timed.first : timed.steps.front();
  // Of a step without a barrier its seconds are what one like it delays the next by.
  if (!timed.first_steps.empty()) timing.seconds = timed.first_steps.front();
  timing = in_places(std::move(timing), sites, true);
  if (!every_step_differs_) handed_.emplace(key, timing);
  return timing;
}

step::NetworkUse StepTimes::network() const {
  step::NetworkUse use = network_;
  use.link_use.clear();
  for (const auto& [name, sum] : carried_) {
    step::LinkUse& mean = use.link_use.emplace_back(sum);
    mean.bytes_per_step /= std::max(1.0, steps_);
    mean.busy_share = seconds_ > 0 ? mean.busy_share / seconds_ : 0;
  }
  std::ranges::stable_sort(use.link_use, std::ranges::greater{}, &step::LinkUse::busy_share);
  if (use.link_use.size() > step::NetworkUse::kMostLinks) use.link_use.resize(step::NetworkUse::kMostLinks);
  return use;
}

}  // namespace dadsim::study
