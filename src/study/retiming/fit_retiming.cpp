#include "study/retiming/fit_retiming.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "sim/platform.hpp"
#include "study/explain/changes.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/retiming/spline.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/timed_as.hpp"
#include "study/trials/outcome.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

using Point = std::vector<double>;                      ///< base-2 logarithms of factors, one per knob
using MetricMatrix = std::vector<std::vector<double>>;  ///< M of report::Retiming

/// Rounds to thousandths, so that the page and this program use the same short number.
double rounded(double value);

/// Returns point number i of a low-discrepancy sequence in the cube from −reach to reach, with at most four dimensions.
Point halton(std::size_t i, std::size_t knobs, double reach);

/// Returns the middle, the corners, and the middles of the faces, so that points between them are interpolated.
std::vector<Point> skeleton(std::size_t knobs, double reach);

/// Returns the candidate metrics. Each shortens distances along two directions: equal slowdown of all parts, and the
/// speed of computing, which has little effect on many runs.
std::vector<MetricMatrix> metrics_of(const std::vector<report::Retiming::Knob>& knobs);

/// Returns number i of the van der Corput sequence in this base, 0…1 (Halton, Numerische Mathematik 2, 1960).
double radical_inverse(std::size_t i, std::size_t base) {
  double result = 0;
  double digit = 1;
  for (; i > 0; i /= base) {
    digit /= static_cast<double>(base);
    result += digit * static_cast<double>(i % base);
  }
  return result;
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

Point halton(std::size_t i, std::size_t knobs, double reach) {
  constexpr std::array<std::size_t, 4> kBases{2, 3, 5, 7};
  Point point(knobs);
  for (std::size_t k = 0; k < knobs; ++k) point[k] = rounded(reach * (2 * radical_inverse(i, kBases.at(k)) - 1));
  return point;
}

std::vector<Point> skeleton(std::size_t knobs, double reach) {
  std::vector<Point> points{Point(knobs, 0.0)};
  for (std::size_t corner = 0; corner < (std::size_t{1} << knobs); ++corner) {
    Point point(knobs);
    for (std::size_t k = 0; k < knobs; ++k) point[k] = (corner >> k & 1) != 0 ? reach : -reach;
    points.push_back(std::move(point));
  }
  for (std::size_t k = 0; knobs > 1 && k < knobs; ++k) {
    for (const double end : {-reach, reach}) {
      Point point(knobs, 0.0);
      point[k] = end;
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<MetricMatrix> metrics_of(const std::vector<report::Retiming::Knob>& knobs) {
  constexpr std::array kShortened{1.0, 0.3, 0.1};
  const std::size_t size = knobs.size();
  std::vector<double> slower;  // unit vector of equal slowdown of all parts
  for (const report::Retiming::Knob& knob : knobs)
    slower.push_back((knob.what == report::Retiming::Knob::KnobKind::latency ? 1 : -1) /
                     std::sqrt(static_cast<double>(size)));
  std::vector<MetricMatrix> metrics;
  for (const double along : kShortened) {
    for (const double computing : kShortened) {
      MetricMatrix metric(size, std::vector<double>(size));
      for (std::size_t i = 0; i < size; ++i) {
        const double scale = knobs[i].what == report::Retiming::Knob::KnobKind::speed ? computing : 1;
        for (std::size_t k = 0; k < size; ++k)
          metric[i][k] = scale * ((i == k ? 1 : 0) - (1 - along) * slower[i] * slower[k]);
      }
      metrics.push_back(std::move(metric));
      if (size == 1) return metrics;
    }
  }
  return metrics;
}

using Knob = report::Retiming::Knob;
constexpr std::array kReaches{1.5, 1.0};  // log₂ of the largest factors, × 2.8 and × 2
constexpr std::array<std::size_t, 5> kPointsWanted{1, 12, 40, 90, 160};  // number of points to fit, by the number of
                                                                         // knobs
constexpr std::size_t kRounds = 3;                                       // rounds that add held-out points, per reach
constexpr std::size_t kHeldOut = 24;
constexpr double kGoodEnough = 0.03;
constexpr double kWorthALook = 0.02;    // error of a held-out point above which points around it are timed
constexpr std::size_t kAround = 3;      // number of points timed around such a held-out point
constexpr std::size_t kFewSteps = 3;    // number of steps in the fit, for a run whose steps differ
constexpr std::size_t kManySteps = 6;   // number of steps in the check of the fit, for the same run
constexpr std::size_t kMostGroups = 2;  // largest number of kinds of links with a knob of their own
constexpr double kLeastBusy = 0.02;     // share of a step; links used less get no knob
// Limit on the messages of one simulation of all runs: at some 4 µs each, several hundred simulations take several
// seconds.
constexpr double kMostMessages = 8000;
// Limit on computations and collectives of all workers, if messages are not simulated one by one.
constexpr double kMostTasks = 40'000;
constexpr double kCoarse = 0.1;  // share of these limits; above it, fewer knobs and a smaller reach are used

/// Timing of a step of each run on a cluster.
struct Timed {
  std::vector<double> seconds;                       ///< per run, a mean step
  std::vector<std::map<std::string, double>> kinds;  ///< per run: seconds of the critical path by kind
};

/// Steps of a run, spread evenly; equal steps occur once.
struct Sample {
  step::Trajectory steps;  ///< a trajectory of these steps alone
  std::vector<schedule::Schedule> schedules;
};

class Retimer {
 public:
  Retimer(const scenario::Scenario& scenario, const Learned& learned, const report::Result& result, bool show_progress)
      : scenario_(scenario),
        learned_(learned),
        result_(result),
        show_progress_(show_progress),
        timed_as_(timed_as_of(scenario, learned.runs.front()->shape, learned.runs.front()->rows)),
        cluster_(cluster_of(scenario)) {}

  report::Retiming fit() {
    cluster_.causes = false;
    cluster_.network.jitter = {};  // jitter changes all times equally
    if (sim::every_step_differs(cluster_)) {
      retiming_.why_not = report::Statement{"network-changes"};
      return std::move(retiming_);
    }
    for (std::size_t i = 0; i < scenario_.runs.size(); ++i) add_run(i);
    if (runs_.empty()) {
      retiming_.why_not = report::Statement{"event-runs-alone"};
      return std::move(retiming_);
    }
    cluster_.network.timed_steps = 0;
    add_knobs();
    if (std::optional<report::Statement> why = too_long()) {
      retiming_.why_not = std::move(why);
      return std::move(retiming_);
    }
    for (const double reach : kReaches) {
      if ((!coarse_ || reach == kReaches.back()) && fit_within(reach)) break;
    }
    return std::move(retiming_);
  }

 private:
  void add_run(std::size_t i) {
    const spec::RunSpec& run = scenario_.runs[i];
    const LearnedRun& learned = *learned_.runs[i];
    if (run.event_driven || may_be_absent(scenario_, run) || has_islands(scenario_, run) ||
        learned.trajectory.steps.empty())
      return;
    const std::vector<step::Assignment> assignment =
        choose_alternatives(run, learned.trajectory, learned.shape, timed_as_, cluster_);
    const ScheduleMemory::Pointer known =
        learned_.schedules->of(run, {learned_.runs[i], &learned.trajectory}, learned.shape, timed_as_, assignment);
    runs_.push_back(i);
    few_.push_back(sample(learned.trajectory, *known, kFewSteps));
    many_.push_back(sample(learned.trajectory, *known, kManySteps));
  }

  static Sample sample(const step::Trajectory& trajectory, const ScheduleMemory::Schedules& known, std::size_t most) {
    Sample sample;
    const std::size_t count = known.kinds.kinds().size() == 1 ? 1 : std::min(most, trajectory.steps.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto index =
          static_cast<std::size_t>(trajectory.steps[(2 * i + 1) * trajectory.steps.size() / (2 * count)]);
      sample.steps.distinct_steps.push_back(trajectory.distinct_steps[index]);
      sample.schedules.push_back(known.schedules[index]);
    }
    return sample;
  }

  void add_knobs() {
    std::map<std::string, LinkGroup> groups;
    double latency = 0;
    for (const report::RunResult& run : result_.runs) {
      if (run.event_driven) continue;
      for (const step::LinkUse& use : run.network.link_use) {
        LinkGroup& group = groups[pattern_of_link(use.link)];
        group.pattern = pattern_of_link(use.link);
        group.add(use);
        latency = std::max(latency, use.latency);
      }
    }
    std::vector<const LinkGroup*> busiest;
    for (const auto& [pattern, group] : groups) {
      if (group.busy_share >= kLeastBusy) busiest.push_back(&group);
    }
    std::ranges::stable_sort(busiest, std::greater<>(), &LinkGroup::busy_share);
    if (busiest.size() > kMostGroups) busiest.resize(kMostGroups);
    for (const LinkGroup* group : busiest) {
      retiming_.knobs.push_back({Knob::KnobKind::bandwidth, "bandwidth of " + group->pattern,
                                 sim::rate_in_words(group->least_bandwidth), sim::rate_in_words(group->most_bandwidth),
                                 group->links});
    }
    if (latency > 0) {
      double least = latency;
      for (const auto& [pattern, group] : groups) {
        if (group.least_latency > 0) least = std::min(least, group.least_latency);
      }
      retiming_.knobs.push_back(
          {Knob::KnobKind::latency, "latency of all links", human_seconds(least), human_seconds(latency), {"*"}});
    }
    std::set<std::string> devices;
    for (const spec::DeviceSpec& device : cluster_.devices) devices.insert(device.name);
    retiming_.knobs.push_back({Knob::KnobKind::speed, "speed of the workers", *devices.begin(), *devices.rbegin(), {}});
  }

  /// Returns why that many simulations would take too long; empty: they are fast enough.
  std::optional<report::Statement> too_long() {
    double messages = 0;
    nominal_ = time(Point(retiming_.knobs.size(), 0.0), few_, &messages);
    nominal_many_ = time(Point(retiming_.knobs.size(), 0.0), many_);
    double tasks = 0;
    for (const Sample& sample : few_) {
      for (const schedule::Schedule& schedule : sample.schedules)
        tasks += static_cast<double>(schedule.tasks.size() * schedule.workers);
    }
    const auto too_many = [](double count, const char* of) {
      return report::Statement{"step-too-long"}.with("count", count).with("of", std::string(of));
    };
    if (messages > kMostMessages) return too_many(messages, "messages");
    if (messages == 0 && tasks > kMostTasks) return too_many(tasks, "operations");
    coarse_ = messages > kCoarse * kMostMessages || (messages == 0 && tasks > kCoarse * kMostTasks);
    if (coarse_ && retiming_.knobs.size() > 3) retiming_.knobs.erase(retiming_.knobs.begin() + 1);
    return std::nullopt;
  }

  /// Times all runs on a cluster, in one simulation per fidelity: starting a simulation takes longer than most steps.
  Timed time(const Point& at, const std::vector<Sample>& samples, double* messages = nullptr) const {
    if (interrupted().load()) throw Cancelled();
    Timed timed;
    timed.seconds.resize(runs_.size());
    timed.kinds.resize(runs_.size());
    std::map<std::string, std::vector<std::size_t>> by_fidelity;
    for (std::size_t r = 0; r < runs_.size(); ++r) by_fidelity[result_.runs[runs_[r]].network.fidelity].push_back(r);
    for (const auto& [fidelity, together] : by_fidelity) {
      sim::Cluster cluster = cluster_;
      for (const spec::Fidelity one : {spec::Fidelity::message, spec::Fidelity::flow, spec::Fidelity::closed_form}) {
        if (fidelity == spec::to_string(one)) cluster.network.fidelity = one;
      }
      turn(retiming_, at, cluster);
      std::vector<schedule::Schedule> schedules;
      step::Trajectory steps;
      for (const std::size_t r : together) {
        schedules.insert(schedules.end(), samples[r].schedules.begin(), samples[r].schedules.end());
        const std::vector<step::Step>& own = samples[r].steps.distinct_steps;
        steps.distinct_steps.insert(steps.distinct_steps.end(), own.begin(), own.end());
      }
      sim::TimedRun timings = sim::time_schedules(cluster, schedules);
      limit_by_input(timed_as_, steps, timings);
      if (messages != nullptr) *messages += timings.network.messages;
      auto timing = timings.steps.begin();
      for (const std::size_t r : together) {
        const auto count = static_cast<double>(samples[r].schedules.size());
        for (std::size_t i = 0; i < samples[r].schedules.size(); ++i, ++timing) {
          timed.seconds[r] += timing->seconds / count;
          for (const step::Bound& bound : timing->bounds) timed.kinds[r][bound.kind] += bound.seconds / count;
        }
      }
    }
    return timed;
  }

  std::vector<Timed> time_all(const std::vector<Point>& points, const std::vector<Sample>& samples) const {
    std::vector<Timed> timed(points.size());
    Progress progress("sliders of the page", points.size(), show_progress_);
    parallel_for_forks(points.size(), [&](std::size_t i) {
      timed[i] = time(points[i], samples);
      progress.update(i, 1, 1);
    });
    return timed;
  }

  void add_points(const std::vector<Point>& all) {
    std::vector<Point> points;  // distinct points, because a function has only one value at each
    for (const Point& point : all) {
      if (!is_known(point) && std::ranges::find(points, point) == points.end()) points.push_back(point);
    }
    std::vector<Timed> timed = time_all(points, few_);
    retiming_.points.insert(retiming_.points.end(), points.begin(), points.end());
    timed_.insert(timed_.end(), std::make_move_iterator(timed.begin()), std::make_move_iterator(timed.end()));
  }

  /// Fits all runs within a reach. Returns true if the errors of all runs are small enough. Keeps points of a wider
  /// reach unless they are far outside.
  bool fit_within(double reach) {
    retiming_.reach = reach;
    std::vector<Point> kept;
    std::vector<Timed> kept_timed;
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      constexpr double kMargin = 0.5;
      const Point& point = retiming_.points[i];
      if (std::ranges::any_of(point, [&](double log) { return std::abs(log) > reach + kMargin; })) continue;
      kept.push_back(point);
      kept_timed.push_back(std::move(timed_[i]));
    }
    retiming_.points = std::move(kept);
    timed_ = std::move(kept_timed);
    const std::size_t knobs = retiming_.knobs.size();
    std::vector<Point> points;
    for (Point& point : skeleton(knobs, reach)) {
      if (std::ranges::find(retiming_.points, point) == retiming_.points.end()) points.push_back(std::move(point));
    }
    while (retiming_.points.size() + points.size() < kPointsWanted.at(knobs)) {
      Point point = next_point(reach);
      if (std::ranges::find(points, point) == points.end()) points.push_back(std::move(point));
    }
    add_points(points);
    for (std::size_t round = 1;; ++round) {
      fit_runs();
      std::vector<Point> fresh;
      for (std::size_t i = 0; i < kHeldOut; ++i) fresh.push_back(next_point(reach));
      const std::vector<Timed> truth = time_all(fresh, many_);
      if (hold_against(fresh, truth) <= kGoodEnough) return true;
      if (coarse_ || round == kRounds) return false;
      for (const std::size_t i : far_off_) {
        for (std::size_t more = 0; more < kAround; ++more) fresh.push_back(near(fresh[i], reach));
      }
      add_points(fresh);
    }
  }

  /// Returns a point near another one. Times bend along a surface, so the neighbourhood of a badly fitted point is
  /// badly fitted too.
  Point near(const Point& point, double reach) {
    constexpr double kShareOfReach = 0.3;
    Point other = next_point(kShareOfReach * reach);
    for (std::size_t k = 0; k < point.size(); ++k) other[k] = rounded(std::clamp(point[k] + other[k], -reach, reach));
    return other;
  }
  /// Returns the next point of the sequence that is not in use.
  Point next_point(double reach) {
    for (;;) {
      Point point = halton(++drawn_, retiming_.knobs.size(), reach);
      if (!is_known(point)) return point;
    }
  }
  bool is_known(const Point& point) const {
    return std::ranges::find(retiming_.points, point) != retiming_.points.end();
  }

  void fit_runs() {
    std::set<std::string> kinds;
    for (const Timed& one : timed_) {
      for (const auto& run : one.kinds) {
        for (const auto& [kind, seconds] : run) kinds.insert(kind);
      }
    }
    retiming_.kinds.assign(kinds.begin(), kinds.end());
    std::vector<MetricMatrix> metrics = metrics_of(retiming_.knobs);
    std::vector<Spline> splines;
    for (const MetricMatrix& metric : metrics) splines.emplace_back(retiming_.points, metric);
    retiming_.runs.clear();
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      report::Retiming::Run run;
      run.run = runs_[r];
      std::vector<double> logs;
      for (const Timed& one : timed_) {
        logs.push_back(std::log(one.seconds[r] / nominal_.seconds[r]));
        std::vector<std::int32_t>& shares = run.shares.emplace_back();
        for (const std::string& kind : retiming_.kinds) {
          const auto found = one.kinds[r].find(kind);
          const double seconds = found == one.kinds[r].end() ? 0 : found->second;
          shares.push_back(static_cast<std::int32_t>(std::lround(100 * seconds / one.seconds[r])));
        }
      }
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        std::vector<double> weights = splines[m].weights(logs);
        const double error = splines[m].error_left_out(weights);
        if (!(error < least)) continue;
        least = error;
        run.weights = std::move(weights);
        run.metric = metrics[m];
      }
      retiming_.runs.push_back(std::move(run));
    }
  }

  /// Returns the largest error of any run.
  double hold_against(const std::vector<Point>& points, const std::vector<Timed>& truth) {
    double worst = 0;
    retiming_.held_out = static_cast<std::int64_t>(points.size());
    std::set<std::size_t> far_off;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      std::vector<double> errors;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double factor = truth[i].seconds[r] / nominal_many_.seconds[r];
        errors.push_back(std::abs(report::factor_at(retiming_, r, points[i]) / factor - 1));
        if (errors.back() > kWorthALook) far_off.insert(i);
      }
      std::ranges::sort(errors);
      retiming_.runs[r].worst_error = errors.back();
      retiming_.runs[r].median_error = errors[errors.size() / 2];
      worst = std::max(worst, errors.back());
    }
    far_off_.assign(far_off.begin(), far_off.end());
    return worst;
  }

  const scenario::Scenario& scenario_;
  const Learned& learned_;
  const report::Result& result_;
  bool show_progress_;
  TimedAs timed_as_;
  sim::Cluster cluster_;
  report::Retiming retiming_;
  std::vector<std::size_t> runs_;     ///< indices in the scenario
  std::vector<Sample> few_, many_;    ///< per run
  Timed nominal_, nominal_many_;      ///< on the scenario's own cluster
  std::vector<Timed> timed_;          ///< per point
  std::vector<std::size_t> far_off_;  ///< indices of the last held-out points with large errors
  bool coarse_ = false;
  std::size_t drawn_ = 0;  ///< points taken so far from the well-spread sequence
};

}  // namespace

void turn(const report::Retiming& retiming, const std::vector<double>& at, sim::Cluster& cluster) {
  for (std::size_t k = 0; k < retiming.knobs.size(); ++k) {
    const Knob& knob = retiming.knobs[k];
    const double factor = std::exp2(at.at(k));
    if (factor == 1) continue;
    for (const std::string& link : knob.links) {
      const bool bandwidth = knob.what == Knob::KnobKind::bandwidth;
      cluster.changes.push_back({link, bandwidth ? factor : 1, bandwidth ? 1 : factor});
    }
    if (knob.what != Knob::KnobKind::speed) continue;
    for (spec::DeviceSpec& device : cluster.devices) device.slowdown /= factor;
  }
}

report::Retiming fit_retiming(const scenario::Scenario& scenario, const Learned& learned, const report::Result& result,
                              bool show_progress) {
  const auto without = [](const std::exception& error) {
    report::Retiming none;
    none.why_not = report::Statement{"not-fitted"}.with("fault", std::string(error.what()));
    return none;
  };
  try {
    return Retimer(scenario, learned, result, show_progress).fit();
  } catch (const sim::SimulationError& error) {  // the simulation does not end on this cluster
    return without(error);
  } catch (const std::invalid_argument& error) {  // no function interpolates these times
    return without(error);
  }
}

}  // namespace dadsim::study
