#include "study/absence/absence_run.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "protocols/registry.hpp"
#include "sim/platform.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/outages_of.hpp"
#include "support/interrupt.hpp"
#include "support/pattern.hpp"

namespace dadsim::study {
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
      } else {  // sites around an aggregator need no way to each other
        ask({of_site[device], server});
      }
    }
    ask(of_sites);
  }
  return Connectivity(routes, hosts, server, outages.links);
}

/// Per site, that all its hosts are there, each with what the rules that fit it say; empty: none draws steps.
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

/// All stand still until the last has written, or read, its part.
AbsenceClock::Checkpoints checkpoints_of(const scenario::Scenario& scenario, const spec::FailureSpec& what) {
  AbsenceClock::Checkpoints all;
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

/// A clock with all that it needs, for one seed.
class Walk {
 public:
  Walk(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned,
       const TimedAs& timed, const sim::Cluster& cluster, std::uint64_t seed)
      : outages_(outages_of_steps(scenario, run, seed)),
        calendar_(outages_),
        times_(scenario, run, learned, timed, cluster),
        clock_(setting_of(scenario, run, seed), calendar_, connectivity_of(scenario, run, outages_)) {}
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  AbsenceClock& clock() { return clock_; }
  StepTimes& times() { return times_; }

  /// AbsenceClock::Setting::foresee
  decltype(AbsenceClock::Setting::foresee) foresee;

 private:
  AbsenceClock::Setting setting_of(const scenario::Scenario& scenario, const spec::RunSpec& run, std::uint64_t seed) {
    AbsenceClock::Setting setting;
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

/// Takes down every step as it is learned, with what it took.
class Attended final : public algorithms::Attendance {
 public:
  explicit Attended(Walk& walk, const std::function<void(std::int64_t)>& progress = {})
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
  std::optional<report::Statement> stopped;  ///< where nobody comes for whom a step waits: no more are taken then

 private:
  Walk& walk_;
  std::function<void(std::int64_t)> progress_;
  std::vector<std::int32_t> sites_;
  std::vector<std::int64_t> rows_;
};

/// What was learned with all there, walked through; not to its end where a step waits for somebody who will not come.
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

/// The first step of those sites, taken apart from the run to see how long it takes.
step::Trajectory first_step(const scenario::Scenario& scenario, const spec::RunSpec& run, const Problem& problem,
                            std::uint64_t seed, const std::vector<std::int32_t>& sites) {
  const algorithms::LearningProblem asked{problem.data, problem.partition, scenario.model, scenario.training, seed};
  const algorithms::Batch batch = algorithms::Batches(scenario.training, problem.partition, seed).next();
  const bool everyone = sites.size() == batch.size();
  const algorithms::Attendees attendees{sites, batch.size(), {}};
  algorithms::Learners::Step taken =
      algorithms::make_learners(run, asked, algorithms::planned_run(asked).steps)->train(0, 0, batch, &attendees);
  step::Trajectory trajectory;
  trajectory.structures.push_back(std::move(taken.structure));
  trajectory.distinct_steps.push_back({0, std::move(taken.sizes), everyone ? std::vector<std::int32_t>() : sites});
  trajectory.steps.push_back(0);
  return trajectory;
}

/// Learns with those that are there. How long a step takes is known from the one before it; of the first one it is
/// found out apart.
LearnedRunPtr learn_through(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& described,
                            const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                            std::uint64_t seed, Walk& walk, Attended& attended) {
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
    Walk walk(scenario, run, learned->shape, timed, cluster, scenario.seed);
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
    Walk walk(scenario, run, described.shape, timed, cluster, seed);
    Attended attended(walk);
    return learn_through(scenario, run, described, timed, cluster, shared_cache, seed, walk, attended);
  });
}

}  // namespace dadsim::study
