#include "study/layer_choices/layer_choices.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/registry.hpp"
#include "spec/precision.hpp"
#include "study/setting/schedule_memory.hpp"

namespace dadsim::study {
namespace {

/// Makes schedules of single collectives, round trips and computations, whose times give their prices.
struct Probes {
  const spec::RunSpec& run;
  std::size_t workers;
  spec::Precision precision;

  schedule::Task collective(step::CollectiveKind kind, double bytes) const {
    schedule::CollectiveTask task;
    task.kind = kind;
    task.bytes = schedule::PerWorker({bytes});
    if (kind == step::CollectiveKind::all_reduce) task.algorithm = run.all_reduce;
    if (kind == step::CollectiveKind::all_gather) task.algorithm = run.all_gather;
    return {"price", std::move(task)};
  }

  /// Returns a schedule of one round trip through the aggregator, with that many bytes up and down.
  schedule::Schedule round_trip(double up, double down) const {
    schedule::Schedule schedule{workers, true, {}, precision};
    schedule.tasks = {collective(step::CollectiveKind::gather, up),
                      {"price", schedule::WaitTask{step::Role::aggregator, 0}},
                      collective(step::CollectiveKind::broadcast, down),
                      {"price", schedule::WaitTask{step::Role::workers, 2}}};
    return schedule;
  }
  schedule::Schedule among_peers(step::CollectiveKind kind, double bytes) const {
    schedule::Schedule schedule{workers, false, {}, precision};
    schedule.tasks = {collective(kind, bytes), {"price", schedule::WaitTask{step::Role::workers, 0}}};
    return schedule;
  }
  schedule::Schedule computing(step::Role who, double flops, double bytes, double launches) const {
    schedule::Schedule schedule{workers, who == step::Role::aggregator, {}, precision};
    schedule::ComputeTask task{step::Phase::factorise, who, schedule::PerWorker({flops}), schedule::PerWorker({bytes}),
                               schedule::PerWorker({launches})};
    task.weights = 1e6;
    schedule.tasks.push_back({"price", std::move(task)});
    if (who == step::Role::aggregator) {
      // Workers wait for the aggregator with a message of one byte up and one down.
      const schedule::Schedule there = round_trip(1, 1);
      schedule.tasks = {there.tasks[0],
                        there.tasks[1],
                        schedule.tasks[0],
                        there.tasks[2],
                        {"price", schedule::WaitTask{step::Role::workers, 3}}};
    }
    return schedule;
  }
};

/// Measures prices of a run's collectives and computations: simulates schedules of one or two of them. `seconds_of`
/// simulates schedules.
schedule::Prices measured_prices(
    const spec::RunSpec& run, std::size_t workers, spec::Precision precision,
    const std::function<std::vector<double>(const std::vector<schedule::Schedule>& steps)>& seconds_of) {
  const Probes probes{run, workers, precision};
  constexpr double kFew = 1e3;
  constexpr double kMany = 1e6;
  constexpr double kFlops = 1e11;
  constexpr double kMoved = 1e9;
  constexpr double kLaunches = 1e3;
  schedule::Prices prices;
  const auto line = [&](double few, double many) {
    const double per_byte = std::max(0.0, (many - few) / (kMany - kFew));
    return schedule::Prices::AssignedCollective{std::max(0.0, few - kFew * per_byte), per_byte};
  };
  std::vector<schedule::Schedule> asked;
  const auto device = [&](step::Role who) {
    for (const auto& [flops, bytes, launches] : {std::tuple(1.0, 1.0, 0.0), std::tuple(kFlops, 1.0, 0.0),
                                                 std::tuple(1.0, kMoved, 0.0), std::tuple(1.0, 1.0, kLaunches)}) {
      asked.push_back(probes.computing(who, flops, bytes, launches));
    }
  };
  device(step::Role::workers);
  const bool star = run.exchange == spec::ExchangeMode::aggregator;
  if (star) {
    for (const auto& [up, down] : {std::pair(kFew, kFew), std::pair(kMany, kFew), std::pair(kFew, kMany)}) {
      asked.push_back(probes.round_trip(up, down));
    }
    device(step::Role::aggregator);
  } else {
    for (const step::CollectiveKind kind : {step::CollectiveKind::all_reduce, step::CollectiveKind::all_gather}) {
      for (const double bytes : {kFew, kMany}) asked.push_back(probes.among_peers(kind, bytes));
    }
  }
  const std::vector<double> seconds = seconds_of(asked);
  const auto device_price = [&](std::size_t at) {
    const auto beyond = [&](std::size_t i) { return std::max(0.0, seconds[at + i] - seconds[at]); };
    return schedule::Prices::Device{beyond(1) / kFlops, beyond(2) / kMoved, beyond(3) / kLaunches};
  };
  prices.worker = device_price(0);
  if (star) {
    // Latency is paid once up and once down.
    prices.gather = line(seconds[4], seconds[5]);
    prices.broadcast = line(seconds[4], seconds[6]);
    prices.gather.once /= 2;
    prices.broadcast.once /= 2;
    prices.aggregator = device_price(7);
  } else {
    prices.all_reduce = line(seconds[4], seconds[5]);
    prices.all_gather = line(seconds[6], seconds[7]);
  }
  return prices;
}

/// Searches the best plan (a choice per layer) for the steps of one structure, by timing steps.
class PlanSearch {
 public:
  PlanSearch(const spec::RunSpec& run, const step::Trajectory& trajectory, std::size_t structure,
             const spec::ModelShape& learned, const TimedAs& timed, const sim::Cluster& cluster)
      : run_(run),
        trajectory_(trajectory),
        step_(*std::ranges::find(trajectory.distinct_steps, static_cast<std::int32_t>(structure),
                                 &step::Step::structure)),
        alternatives_(trajectory.structures[structure].alternatives),
        learned_(learned),
        timed_(timed),
        cluster_(cluster) {
    std::vector<const step::Step*> all;
    for (const std::int32_t index : trajectory.steps) {
      const step::Step& one = trajectory.distinct_steps[static_cast<std::size_t>(index)];
      if (one.structure == static_cast<std::int32_t>(structure)) all.push_back(&one);
    }
    if (all.empty()) all.push_back(&step_);
    few_ = evenly(all, kFewSteps);
    many_ = evenly(all, kManySteps);
    // Without jitter and with whole steps, all plans are compared on equal terms.
    cluster_.network.jitter = {};
    cluster_.network.timed_steps = 0;
    cluster_.causes = false;
  }

  step::Assignment fewest_bytes() const { return best_by(schedule::bytes_sent); }

  step::Assignment quickest() {
    const std::vector<step::Assignment> same = uniform();
    std::vector<step::Assignment> plans = same;
    plans.push_back(fewest_bytes());
    for (step::Assignment& plan : by_weights()) plans.push_back(std::move(plan));
    try_out(plans);
    improve();
    // Steps differ, so the best plans are compared on more of them.
    std::vector<std::pair<double, step::Assignment>> ranked;
    for (const auto& [plan, seconds] : tried_) ranked.emplace_back(seconds, plan);
    std::ranges::sort(ranked);
    std::vector<step::Assignment> finalists;
    for (std::size_t i = 0; i < std::min(kFinalists, ranked.size()); ++i) finalists.push_back(ranked[i].second);
    finalists.insert(finalists.end(), same.begin(), same.end());
    const std::vector<double> seconds = seconds_with(finalists, many_);
    const auto best = std::ranges::min_element(seconds) - seconds.begin();
    return exact_for_nothing(finalists[static_cast<std::size_t>(best)], seconds[static_cast<std::size_t>(best)]);
  }

 private:
  using Steps = std::vector<const step::Step*>;
  static constexpr std::size_t kFewSteps = 2;      ///< steps on which every plan is tried
  static constexpr std::size_t kManySteps = 16;    ///< steps on which the finalists are tried
  static constexpr std::size_t kFinalists = 4;     ///< best plans tried again, in addition to the uniform ones
  static constexpr std::size_t kMostRounds = 6;    ///< rounds of improvements
  static constexpr std::size_t kMostTrials = 600;  ///< approximate limit on simulated plans

  static Steps evenly(const Steps& all, std::size_t most) {
    Steps some;
    const std::size_t count = std::min(most, all.size());
    for (std::size_t i = 0; i < count; ++i) some.push_back(all[(2 * i + 1) * all.size() / (2 * count)]);
    return some;
  }

  std::vector<schedule::LayerCosts> costs_by(const schedule::Price& price) const {
    return schedule::costs_of_alternatives(trajectory_.structures[static_cast<std::size_t>(step_.structure)],
                                           step_.sizes, learned_, timed_.shape, timed_.sample_scale, timed_.precision,
                                           price);
  }
  step::Assignment best_by(const schedule::Price& price) const {
    return choose(alternatives_, costs_by(price), timed_.shape.layers.size());
  }

  /// Returns one plan per statistic: all layers that offer this statistic send it; other layers send the fewest bytes.
  std::vector<step::Assignment> uniform() const {
    std::vector<step::Assignment> plans;
    std::set<std::string> done;
    for (const step::Alternative& wanted : alternatives_.all) {
      if (!done.insert(wanted.name).second) continue;
      std::vector<schedule::LayerCosts> layers = costs_by(schedule::bytes_sent);
      double all = 1;
      for (const schedule::LayerCosts& layer : layers) {
        for (const double cost : layer.costs) all += cost < std::numeric_limits<double>::infinity() ? cost : 0;
      }
      for (schedule::LayerCosts& layer : layers) {
        for (std::size_t a = 0; a < layer.costs.size(); ++a) {
          if (alternatives_.all[a].name != wanted.name) layer.costs[a] += all;
        }
      }
      plans.push_back(choose(alternatives_, layers, timed_.shape.layers.size()));
    }
    return plans;
  }

  /// Returns the best plans by weighted sums of uplink, downlink and computing costs, for several weights.
  std::vector<step::Assignment> by_weights() {
    const schedule::Prices prices =
        measured_prices(run_, step_.sizes.samples.size(), timed_.precision,
                        [&](const std::vector<schedule::Schedule>& schedules) { return seconds_of(schedules); });
    std::vector<step::Assignment> plans;
    for (const double up : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      for (const double computing : {0.0, 0.1, 0.3, 1.0, 3.0, 10.0}) {
        plans.push_back(best_by([&](const schedule::Task& task, std::size_t workers) {
          double weight = 1;
          if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
            if (collective->kind == step::CollectiveKind::gather) weight = 2 * up;
            if (collective->kind == step::CollectiveKind::broadcast) weight = 2 * (1 - up);
          } else {
            weight = computing;
          }
          return weight * prices.of(task, workers);
        }));
      }
    }
    return plans;
  }

  std::vector<double> seconds_of(const std::vector<schedule::Schedule>& schedules) const {
    std::vector<double> seconds;
    for (const step::StepTiming& timing : sim::time_schedules(cluster_, schedules).steps) {
      seconds.push_back(timing.seconds);
    }
    return seconds;
  }

  /// Returns the mean seconds of a step, per plan.
  std::vector<double> seconds_with(const std::vector<step::Assignment>& plans, const Steps& steps) const {
    std::vector<schedule::Schedule> schedules;
    for (const step::Assignment& plan : plans) {
      for (const step::Step* one : steps) {
        schedules.push_back(schedule_of(run_, trajectory_, *one, learned_, timed_, &plan));
      }
    }
    if (schedules.empty()) return {};
    const std::vector<double> all = seconds_of(schedules);
    std::vector<double> means(plans.size());
    for (std::size_t i = 0; i < all.size(); ++i) means[i / steps.size()] += all[i] / static_cast<double>(steps.size());
    return means;
  }

  /// Simulates the plans not simulated before, and updates the fastest plan.
  void try_out(const std::vector<step::Assignment>& plans) {
    std::vector<step::Assignment> fresh;
    for (const step::Assignment& plan : plans) {
      if (tried_.emplace(plan, 0).second) fresh.push_back(plan);
    }
    const std::vector<double> seconds = seconds_with(fresh, few_);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      tried_[fresh[i]] = seconds[i];
      // A gain of less than a part in a million does not count.
      if (best_.empty() || seconds[i] < tried_.at(best_) * (1 - 1e-6)) best_ = fresh[i];
    }
  }

  /// Changes the choice of each layer in turn, with as few changes of other layers as this requires. Then combines the
  /// 1, 2, 4 … changes that saved the most time alone.
  void improve() {
    const std::vector<schedule::LayerCosts> layers = costs_by(schedule::bytes_sent);
    struct PriceChange {
      double gain = 0;
      std::size_t layer = 0, alternative = 0;
    };
    for (std::size_t round = 0; round < kMostRounds && tried_.size() < kMostTrials; ++round) {
      const step::Assignment before = best_;
      std::vector<std::pair<PriceChange, step::Assignment>> changed;
      std::vector<step::Assignment> plans;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        for (std::size_t a = 0; a < alternatives_.all.size(); ++a) {
          if (static_cast<std::int32_t>(a) == before[layers[i].position]) continue;
          if (std::optional<step::Assignment> plan = nearest(layers, before, i, a)) {
            changed.push_back({{0, i, a}, *plan});
            plans.push_back(std::move(*plan));
          }
        }
      }
      try_out(plans);
      for (auto& [change, plan] : changed) change.gain = tried_.at(before) - tried_.at(plan);
      std::erase_if(changed, [](const auto& one) { return !(one.first.gain > 0); });
      std::ranges::stable_sort(changed, std::greater(), [](const auto& one) { return one.first.gain; });
      plans.clear();
      step::Assignment together = before;
      for (std::size_t i = 0; i < changed.size(); ++i) {
        const PriceChange& change = changed[i].first;
        if (auto plan = nearest(layers, together, change.layer, change.alternative)) together = std::move(*plan);
        if (std::has_single_bit(i + 1) || i + 1 == changed.size()) plans.push_back(together);
      }
      try_out(plans);
      if (best_ == before) return;
    }
  }

  /// Returns a plan that makes as many lossy layers of `plan` exact as possible, and is at most 1 % slower. Step times
  /// are not known better, and exact layers need fewer steps.
  step::Assignment exact_for_nothing(const step::Assignment& plan, double seconds) const {
    const std::vector<schedule::LayerCosts> layers = costs_by(schedule::bytes_sent);
    std::vector<std::size_t> lossy;
    std::vector<step::Assignment> plans;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!loses(plan[layers[i].position])) continue;
      for (std::size_t a = 0; a < alternatives_.all.size(); ++a) {
        if (loses(static_cast<std::int32_t>(a))) continue;
        if (std::optional<step::Assignment> other = nearest(layers, plan, i, a)) {
          lossy.push_back(i);
          plans.push_back(std::move(*other));
        }
      }
    }
    const std::vector<double> alone = seconds_with(plans, few_);
    std::vector<std::size_t> order(plans.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t one) { return alone[one]; });
    std::vector<step::Assignment> unions{plan};
    std::set<std::size_t> done;
    step::Assignment together = plan;
    for (const std::size_t one : order) {
      if (!done.insert(lossy[one]).second) continue;
      const auto wanted = static_cast<std::size_t>(plans[one][layers[lossy[one]].position]);
      if (auto both = nearest(layers, together, lossy[one], wanted)) together = std::move(*both);
      if (done.size() <= 4 || done.size() % 4 == 0) unions.push_back(together);
    }
    const std::vector<double> all = seconds_with(unions, many_);
    for (std::size_t i = unions.size(); i-- > 1;) {
      if (all[i] <= 1.01 * seconds) return unions[i];
    }
    return plan;
  }
  bool loses(std::int32_t alternative) const {
    return is_lossy(algorithms::algorithm_registry().at(run_.algorithm),
                    alternatives_.all[static_cast<std::size_t>(alternative)].name);
  }

  /// Returns the plan nearest to `plan` in which layer i takes alternative a: it changes the fewest layers.
  std::optional<step::Assignment> nearest(std::vector<schedule::LayerCosts> layers, const step::Assignment& plan,
                                          std::size_t i, std::size_t a) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (layers[i].costs[a] == kNever || (alternatives_.all[a].from_above && !layers[i].chained)) return {};
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (std::size_t b = 0; b < layers[l].costs.size(); ++b) {
        if (layers[l].costs[b] == kNever) continue;
        layers[l].costs[b] = plan[layers[l].position] == static_cast<std::int32_t>(b) ? 0 : 1;
        if (l == i) layers[l].costs[b] = b == a ? 0 : kNever;
      }
    }
    return least_of(alternatives_, layers, timed_.shape.layers.size());  // none if no plan fits this choice
  }

  const spec::RunSpec& run_;
  const step::Trajectory& trajectory_;
  const step::Step& step_;
  const step::Alternatives& alternatives_;
  const spec::ModelShape& learned_;
  const TimedAs& timed_;
  sim::Cluster cluster_;
  Steps few_, many_;
  std::map<step::Assignment, double> tried_;  ///< mean seconds of a step
  step::Assignment best_;
};

}  // namespace

std::vector<step::Assignment> choose_alternatives(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const spec::ModelShape& learned, const TimedAs& timed,
                                                  const sim::Cluster& cluster) {
  std::vector<step::Assignment> assignment;
  for (std::size_t i = 0; i < trajectory.structures.size(); ++i) {
    const step::Alternatives& alternatives = trajectory.structures[i].alternatives;
    if (alternatives.all.empty()) return {};
    PlanSearch search(run, trajectory, i, learned, timed, cluster);
    assignment.push_back(alternatives.by == step::Alternatives::ChosenBy::time ? search.quickest()
                                                                               : search.fewest_bytes());
  }
  return assignment;
}

bool may_be_settled(const spec::RunSpec& run) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  return info != nullptr && info->records_alternatives(run.parameters) && !info->exact(run);
}

spec::RunSpec settled(const spec::RunSpec& run, const spec::ModelShape& learned, const TimedAs& timed,
                      const sim::Cluster& cluster, const std::function<step::Trajectory()>& learn_first_steps) {
  if (!may_be_settled(run)) return run;
  const methods::MethodInfo& info = algorithms::algorithm_registry().at(run.algorithm);
  const step::Trajectory first = learn_first_steps();
  const std::vector<report::LayerStatistic> assignment =
      statistics_of(first, choose_alternatives(run, first, learned, timed, cluster), timed.shape);
  std::vector<std::string> names;
  for (const spec::LayerShape& layer : learned.layers) {
    if (layer.has_outer_product()) names.push_back(layer.name);
  }
  std::vector<std::size_t> stands_for(names.size()), exact(names.size());
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    const std::size_t stand_in = schedule::layer_at_same_depth(i, assignment.size(), names.size());
    ++stands_for[stand_in];
    if (!is_lossy(info, assignment[i].statistic)) ++exact[stand_in];
  }
  spec::RunSpec settled = run;
  for (std::size_t l = 0; l < names.size(); ++l) {
    if (stands_for[l] > 0 && exact[l] == stands_for[l])
      settled.share.push_back({names[l], info.statistics.front().name, 1});
  }
  return settled;
}

std::vector<report::LayerStatistic> statistics_of(const step::Trajectory& trajectory,
                                                  const std::vector<step::Assignment>& assignment,
                                                  const spec::ModelShape& timed) {
  std::vector<report::LayerStatistic> statistics;
  if (assignment.empty()) return statistics;
  const std::vector<step::Alternative>& alternatives = trajectory.structures.front().alternatives.all;
  for (std::size_t i = 0; i < timed.layers.size(); ++i) {
    const std::int32_t one = assignment.front().at(i);
    if (one >= 0) statistics.push_back({timed.layers[i].name, alternatives.at(static_cast<std::size_t>(one)).name});
  }
  return statistics;
}

}  // namespace dadsim::study
