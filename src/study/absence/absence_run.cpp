#include "study/absence/absence_run.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "algorithms/batches.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "estimate/memory.hpp"
#include "schedule/schedule.hpp"
#include "sim/platform.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/schedule_memory.hpp"
#include "support/interrupt.hpp"
#include "support/pattern.hpp"

namespace dadsim::study {
namespace {

/// Returns a schedule with one message of `bytes` to each worker: from the aggregator, or from worker 0 to the others.
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
  model_bytes_ = kFloat * (parameters + estimate::optimizer_state(scenario.training.optimizer, timed.shape));
}

StepTimes::Sites StepTimes::all_sites() const {
  Sites all(sites_);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Returns the device indices of these sites, stage by stage, in the order of Scenario::devices_of_workers.
/// `one_device`: only the first device of each site.
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

/// Returns a timing whose values have moved from their places among the devices of these sites to their places among
/// all devices.
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

void StepTimes::count(const KnownStepTime& known) {
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
  // With weights per site, the step must be reduced to the present sites; otherwise the learned step already contains
  // only these.
  return decentralised_ && !step.sites.empty() ? schedule::restricted(schedule, step.sites) : schedule;
}

step::StepTiming StepTimes::of(const step::Trajectory& trajectory, std::size_t index, std::int64_t number,
                               double date) {
  const KnownStepTime& one = known(trajectory, index, number, date);
  count(one);
  return one.as(number);
}

step::StepTiming StepTimes::foresee(const step::Trajectory& trajectory, std::size_t index, std::int64_t number,
                                    double date) {
  return known(trajectory, index, number, date).as(number);
}

const StepTimes::KnownStepTime& StepTimes::known(const step::Trajectory& trajectory, std::size_t index,
                                                 std::int64_t number, double date) {
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
  KnownStepTime known{in_places(timed.steps.front(), sites), {}, timed.network.link_use};
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
  // Without a barrier, a step's time is the delay that a similar step adds to the next one.
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

namespace {

std::vector<std::string> device_hosts(const scenario::Scenario& scenario) {
  std::vector<std::string> hosts;
  for (const spec::Placement& device : scenario.all_devices()) hosts.push_back(device.host);
  if (scenario.aggregator) hosts.push_back(scenario.aggregator->host);
  return hosts;
}

world::Outages outages_of_steps(const scenario::Scenario& scenario, const spec::RunSpec& run, std::uint64_t seed) {
  world::Outages outages = outages_of(scenario, run, device_hosts(scenario), [&] {
    std::set<std::string> names;
    for (const sim::PlatformLink& link : sim::platform_links(scenario.platform)) names.insert(link.name);
    return std::vector<std::string>(names.begin(), names.end());
  });
  outages.seed = seed;
  return outages;
}

bool has_server(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  return scenario.aggregator && !run.decentralised && run.exchange == spec::ExchangeMode::aggregator;
}

Connectivity connectivity_of(const scenario::Scenario& scenario, const spec::RunSpec& run,
                             const world::Outages& outages) {
  if (outages.links.empty()) return Connectivity(scenario.workers.size());
  std::vector<std::vector<std::string>> hosts(scenario.workers.size());
  for (std::size_t device = 0; device < scenario.all_devices().size(); ++device)
    hosts[scenario.worker_of(device)].push_back(scenario.all_devices()[device].host);
  const std::string server = has_server(scenario, run) ? scenario.aggregator->host : std::string();
  std::vector<sim::RouteLink> routes;
  std::set<std::set<std::string>> asked;
  const auto ask = [&](const std::set<std::string>& among) {
    if (among.size() < 2 || !asked.insert(among).second) return;
    const std::vector<sim::RouteLink> found =
        sim::platform_routes(scenario.platform, std::vector<std::string>(among.begin(), among.end()));
    routes.insert(routes.end(), found.begin(), found.end());
  };
  for (const std::vector<std::string>& of_site : hosts) ask({of_site.begin(), of_site.end()});
  for (std::size_t device = 0; device < hosts.front().size(); ++device) {
    std::set<std::string> of_sites;
    for (const std::vector<std::string>& of_site : hosts) {
      if (server.empty()) {
        of_sites.insert(of_site[device]);
      } else {  // sites around an aggregator need no route to each other
        ask({of_site[device], server});
      }
    }
    ask(of_sites);
  }
  return Connectivity(routes, hosts, server, outages.links);
}

/// Returns per site the probability that all its hosts are present, by the rules that match them. Empty: no rule draws
/// the participants of steps.
std::vector<double> chances_of(const scenario::Scenario& scenario, const spec::FailureSpec& what) {
  std::vector<double> chances;
  for (const spec::AvailabilitySpec& one : what.availability) {
    if (one.by != spec::AvailabilitySpec::By::steps) continue;
    chances.resize(scenario.workers.size(), 1.0);
    for (std::size_t device = 0; device < scenario.all_devices().size(); ++device) {
      if (fits(one.hosts, scenario.all_devices()[device].host)) chances[scenario.worker_of(device)] *= one.chance;
    }
  }
  return chances;
}

/// Returns the interval and the seconds of checkpoints. The shortest interval of all rules counts, and all sites wait
/// until the last one has written, or read, its part.
AbsenceClock::AbsenceCheckpoints checkpoints_of(const scenario::Scenario& scenario, const spec::FailureSpec& what) {
  AbsenceClock::AbsenceCheckpoints all;
  for (const spec::Placement& device : scenario.all_devices()) {
    const auto rule = std::ranges::find_if(
        what.checkpoints, [&](const spec::CheckpointSpec& one) { return fits(one.hosts, device.host); });
    if (rule == what.checkpoints.end()) continue;
    const double seconds = rule->bytes / rule->storage;
    all.every = all.every == 0 ? rule->every : std::min(all.every, rule->every);
    all.write = std::max(all.write, seconds);
    all.restore = std::max(all.restore, rule->restore + seconds);
  }
  return all;
}

/// Holds a clock and everything it refers to, for one seed.
class OutageWalk {
 public:
  OutageWalk(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned,
             const TimedAs& timed, const sim::Cluster& cluster, std::uint64_t seed)
      : outages_(outages_of_steps(scenario, run, seed)),
        calendar_(outages_),
        times_(scenario, run, learned, timed, cluster),
        clock_(setting_of(scenario, run, seed), calendar_, connectivity_of(scenario, run, outages_)) {}
  OutageWalk(const OutageWalk&) = delete;
  OutageWalk& operator=(const OutageWalk&) = delete;

  AbsenceClock& clock() { return clock_; }
  StepTimes& times() { return times_; }

  /// expected timing of a step, for AbsenceSetting::foresee
  decltype(AbsenceClock::AbsenceSetting::foresee) foresee;

 private:
  AbsenceClock::AbsenceSetting setting_of(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                          std::uint64_t seed) {
    AbsenceClock::AbsenceSetting setting;
    const std::size_t sites = scenario.workers.size();
    const spec::FailureSpec what = run.conditions.failures_of(scenario.failures);
    setting.absence = run.absence;
    setting.sites = sites;
    for (std::size_t device = 0; device < scenario.all_devices().size(); ++device)
      setting.site_of.push_back(scenario.worker_of(device));
    if (scenario.aggregator) setting.site_of.push_back(sites);
    setting.server = has_server(scenario, run);
    setting.common_model = !run.decentralised;
    setting.chances = chances_of(scenario, what);
    setting.has_dates = what.has_dates() || !outages_.profiles.empty();
    setting.seed = seed;
    setting.checkpoints = checkpoints_of(scenario, what);
    setting.names = node_names(scenario);
    setting.hand_over = [this](std::int32_t from, const std::vector<std::int32_t>& to, double date) {
      return times_.hand_over(from, to, date);
    };
    setting.foresee = [this](std::int64_t number, const std::vector<std::int32_t>& at, double date) {
      return foresee ? foresee(number, at, date) : std::nullopt;
    };
    return setting;
  }

  world::Outages outages_;
  world::OutageCalendar calendar_;
  StepTimes times_;
  AbsenceClock clock_;
};

/// Asks the clock for the sites of each step, and records the duration of every step.
class Attended final : public algorithms::Attendance {
 public:
  explicit Attended(OutageWalk& walk, const std::function<void(std::int64_t)>& progress = {})
      : walk_(walk), progress_(progress) {}

  Present next(std::int64_t step, const std::vector<std::int64_t>& rows) override {
    rows_ = rows;
    Present present;
    try {
      present = walk_.clock().next(step, rows);
    } catch (const NobodyComes& nobody) {
      stopped = report::Statement{"stopped"}.with("seconds", walk_.clock().now()).with("fault", nobody.what());
    }
    sites_ = present.sites;
    return present;
  }
  void took(const step::Trajectory& so_far) override {
    const auto number = static_cast<std::int64_t>(so_far.steps.size()) - 1;
    const step::StepTiming timing =
        walk_.times().of(so_far, static_cast<std::size_t>(so_far.steps.back()), number, walk_.clock().now());
    timings.push_back(walk_.clock().took(sites_, rows_, timing));
    if (progress_) progress_(number + 1);
  }
  std::vector<std::int64_t> begun() const override { return walk_.clock().begun(); }
  void limit_begun(std::int64_t most) override { walk_.clock().limit_begun(most); }

  std::vector<step::StepTiming> timings;
  std::optional<report::Statement> stopped;  ///< reason if a step waits forever; no more steps are taken then

 private:
  OutageWalk& walk_;
  std::function<void(std::int64_t)> progress_;
  std::vector<std::int32_t> sites_;
  std::vector<std::int64_t> rows_;
};

/// Replays steps learned with all sites. Ends early if a step waits for a site that never returns.
void follow(const step::Trajectory& learned, Attended& attended) {
  step::Trajectory so_far;
  so_far.structures = learned.structures;
  so_far.distinct_steps = learned.distinct_steps;
  for (std::size_t step = 0; step < learned.steps.size(); ++step) {
    const step::Step& one = learned.distinct_steps[static_cast<std::size_t>(learned.steps[step])];
    const std::vector<std::int64_t> rows(one.sizes.samples.begin(), one.sizes.samples.end());
    if (attended.next(static_cast<std::int64_t>(step), rows).sites.empty()) return;
    so_far.steps.push_back(learned.steps[step]);
    attended.took(so_far);
  }
}

/// Learns the first step of these sites separately, and returns a trajectory with only this step.
step::Trajectory first_step(const scenario::Scenario& scenario, const spec::RunSpec& run, const Problem& problem,
                            std::uint64_t seed, const std::vector<std::int32_t>& sites) {
  const algorithms::LearningProblem asked{problem.data, problem.partition, scenario.model, scenario.training, seed};
  const algorithms::Batch batch = algorithms::Batches(scenario.training, problem.partition, seed).next();
  const bool everyone = sites.size() == batch.size();
  const algorithms::Attendees attendees{sites, batch.size(), {}};
  algorithms::Learners::LearnerStep taken =
      algorithms::make_learners(run, asked, algorithms::planned_run(asked).steps)->train(0, 0, batch, &attendees);
  step::Trajectory trajectory;
  trajectory.structures.push_back(std::move(taken.structure));
  trajectory.distinct_steps.push_back({0, std::move(taken.sizes), everyone ? std::vector<std::int32_t>() : sites});
  trajectory.steps.push_back(0);
  return trajectory;
}

/// Learns with the sites present. The previous step's time is the expected time of the next one; the first step is
/// simulated separately.
LearnedRunPtr learn_through(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& described,
                            const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                            std::uint64_t seed, OutageWalk& walk, Attended& attended) {
  std::map<std::vector<std::int32_t>, step::StepTiming> first;
  walk.foresee = [&](std::int64_t number, const std::vector<std::int32_t>& sites,
                     double date) -> std::optional<step::StepTiming> {
    if (number > 0) return std::nullopt;
    if (!first.contains(sites)) {
      const step::Trajectory alone = first_step(scenario, run, *shared_cache.problem(scenario, seed), seed, sites);
      first[sites] = StepTimes(scenario, run, described.shape, timed, cluster).foresee(alone, 0, 0, date);
    }
    return first[sites];
  };
  return learn_attended(scenario, run, described, shared_cache, seed, attended);
}

template <class Result>
Result told_by_label(const spec::RunSpec& run, const std::function<Result()>& walk) {
  try {
    return walk();
  } catch (const std::invalid_argument& wrong) {
    throw sim::SimulationError(run.label + ": " + wrong.what());
  }
}

}  // namespace

AbsenceRun run_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRunPtr& learned,
                            const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                            const std::function<void(std::int64_t)>& progress) {
  return told_by_label<AbsenceRun>(run, [&] {
    OutageWalk walk(scenario, run, learned->shape, timed, cluster, scenario.seed);
    Attended attended(walk, progress);
    AbsenceRun result;
    result.learned = learned;
    if (run.absence.goes_without()) {
      result.learned =
          learn_through(scenario, run, *learned, timed, cluster, shared_cache, scenario.seed, walk, attended);
    } else {
      walk.foresee = [&](std::int64_t number, const std::vector<std::int32_t>&, double date) {
        const std::int32_t index = learned->trajectory.steps[static_cast<std::size_t>(number)];
        return std::optional(walk.times().foresee(learned->trajectory, static_cast<std::size_t>(index), number, date));
      };
      result.assignment = choose_alternatives(run, learned->trajectory, learned->shape, timed, cluster);
      walk.times().know_all(learned->trajectory, result.assignment);
      follow(learned->trajectory, attended);
      if (attended.stopped) {
        const auto taken = static_cast<std::int64_t>(attended.timings.size());
        result.learned = learn_first_steps(scenario, run, *learned, shared_cache, scenario.seed, taken);
      }
    }
    const step::Trajectory& trajectory = result.learned->trajectory;
    if (attended.timings.size() > trajectory.steps.size()) attended.timings.resize(trajectory.steps.size());
    result.trajectory = trajectory;
    result.trajectory.distinct_steps.clear();
    for (std::size_t step = 0; step < trajectory.steps.size(); ++step) {
      result.trajectory.distinct_steps.push_back(
          trajectory.distinct_steps[static_cast<std::size_t>(trajectory.steps[step])]);
      result.trajectory.steps[step] = static_cast<std::int32_t>(step);
    }
    result.timings.steps = std::move(attended.timings);
    result.timings.network = walk.times().network();
    result.counted = walk.clock().result(node_names(scenario));
    result.counted.stopped = attended.stopped;
    return result;
  });
}

LearnedRunPtr learn_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                 const LearnedRun& described, const TimedAs& timed, const sim::Cluster& cluster,
                                 SharedCache& shared_cache, std::uint64_t seed) {
  return told_by_label<LearnedRunPtr>(run, [&] {
    OutageWalk walk(scenario, run, described.shape, timed, cluster, seed);
    Attended attended(walk);
    return learn_through(scenario, run, described, timed, cluster, shared_cache, seed, walk, attended);
  });
}

}  // namespace dadsim::study
