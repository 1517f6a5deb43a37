#include "study/sweep/sweep_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "models/uniform.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/language/overrides.hpp"
#include "spec/model_shape.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/sweep/results.hpp"
#include "study/trials/outcome.hpp"
#include "support/environment_error.hpp"
#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/wire.hpp"

namespace dadsim::study {
namespace {

/// Returns one axis of drawn points: a number in (0, 1) for each.
std::vector<double> quantiles(const spec::SweepSpec& sweep, std::uint32_t axis) {
  RandomStream random(sweep.seed, Purpose::sweep_points, axis);
  std::vector<double> drawn(static_cast<std::size_t>(sweep.points));
  if (sweep.method == spec::SweepSpec::Method::random) {
    std::ranges::generate(drawn, [&] { return models::uniform01(random); });
    return drawn;
  }
  // Latin hypercube: of as many equal parts as there are points, each contains one point, in random order.
  std::iota(drawn.begin(), drawn.end(), 0.0);
  models::shuffle(std::span(drawn), random);
  for (double& part : drawn) part = (part + models::uniform01(random)) / static_cast<double>(drawn.size());
  return drawn;
}

constexpr std::size_t kErrorsShown = 100;
constexpr std::size_t kWrongPointsLookedAt = 1000;  // largest number of faulty points examined; more give no further
                                                    // information

/// Returns for example "point 12 (training.batch=64, seed=3)".
std::string in_words(std::size_t point, const std::vector<std::string>& overrides) {
  std::string text = fmt::format("point {} (", point + 1);
  for (std::size_t i = 0; i < overrides.size(); ++i) text += (i == 0 ? "" : ", ") + scenario::printable(overrides[i]);
  return text + ")";
}

/// Collects errors of points, each once, at the line of the <vary> that causes it.
class PointErrors {
 public:
  PointErrors(std::string file, const spec::SweepSpec& sweep) : file_(std::move(file)), paths_(varied_paths(sweep)) {}

  /// `overrides`: settings of the point, one per varied path.
  void add(std::size_t point, const std::vector<std::string>& overrides, const std::vector<Diagnostic>& faults) {
    const std::lock_guard lock(mutex_);
    ++points_;
    for (const Diagnostic& diagnostic : faults) {
      const auto own = std::ranges::find(overrides, diagnostic.file,
                                         [](const std::string& text) { return "--set " + scenario::printable(text); });
      if (own != overrides.end()) {
        const spec::VariedPath& path = *paths_[static_cast<std::size_t>(own - overrides.begin())];
        note({path.line, diagnostic.what, scenario::remedy_of_value(path, diagnostic)}, point,
             scenario::printable(*own), "value");
      } else {
        note({paths_.front()->line, to_string({diagnostic.file, diagnostic.line, diagnostic.what, ""}),
              diagnostic.remedy},
             point, in_words(point, overrides), "point");
      }
    }
  }

  bool enough() const { return points_ >= kWrongPointsLookedAt; }

  void throw_if_any() const {
    if (errors_.empty()) return;
    std::vector<Diagnostic> sorted;
    for (const auto& [mistake, found] : errors_) {
      const std::size_t more = found.where.size() - 1;
      std::string points = found.first_point;
      if (more > 0) points += fmt::format(" and {} more {}{}", more, found.noun, more > 1 ? "s" : "");
      sorted.push_back({file_, mistake.line, fmt::format("{}: {}", points, mistake.what), mistake.remedy});
    }
    const std::size_t total = sorted.size();
    if (total > kErrorsShown) {
      sorted.resize(kErrorsShown);
      sorted.push_back({file_, 0, fmt::format("and {} more errors", total - kErrorsShown), ""});
    }
    throw InputError(std::move(sorted));
  }

 private:
  struct Mistake {
    int line = 0;
    std::string what, remedy;
    auto operator<=>(const Mistake&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
  };
  struct Found {
    std::size_t first = 0;        ///< index of the first point
    std::string first_point;      ///< the first point, in words
    std::set<std::string> where;  ///< values, or points, that have the error
    const char* noun = "";
  };

  void note(const Mistake& mistake, std::size_t point, const std::string& where, const char* noun) {
    Found& found = errors_[mistake];
    if (found.where.empty() || point < found.first) {
      found.first = point;
      found.first_point = where;
    }
    found.where.insert(where);
    found.noun = noun;
  }

  std::string file_;
  std::vector<const spec::VariedPath*> paths_;
  std::mutex mutex_;
  std::atomic<std::size_t> points_{0};
  std::map<Mistake, Found> errors_;
};

/// Returns why a point is infeasible.
std::string in_words_of(const std::vector<Diagnostic>& faults) {
  std::string text = std::string(kInfeasible) + faults.front().what;
  if (faults.size() > 1) text += fmt::format(" (and {} more)", faults.size() - 1);
  return text;
}

/// Returns the fingerprint of an infeasible point, for its hash.
std::uint64_t fingerprint_of_infeasible(const std::vector<std::string>& overrides, const std::string& words) {
  WireWriter all;
  for (const std::string& one : overrides) all << std::string_view(one);
  all << std::string_view(words);
  return fingerprint(all.bytes());
}

/// Returns the keys of the runs that a scenario learns, and a hash of all other inputs of learning. Runs that learn on
/// their cluster are learned during timing: their inputs are part of the hash, but nothing is stored under their keys.
std::pair<std::vector<std::uint64_t>, std::uint64_t> problem_of(const scenario::Scenario& scenario) {
  std::vector<std::uint64_t> keys;
  WireWriter all;
  for (const spec::RunSpec& run : scenario.runs) {
    const std::uint64_t key = learning_hash_of(scenario, run, scenario.training, scenario.seed);
    all << key;
    if (!learns_on_cluster(scenario, run)) keys.push_back(key);
  }
  if (scale_setting(scenario)) all << scenario.training.seeds << scenario.training.targets();
  return {std::move(keys), fingerprint(all.bytes())};
}

}  // namespace

std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep) {
  std::vector<const spec::VariedPath*> paths;
  for (const spec::SweepAxis& axis : sweep.axes) {
    for (const spec::VariedPath& varied : axis) paths.push_back(&varied);
  }
  return paths;
}

PointLayout::PointLayout(spec::SweepSpec sweep) : sweep_(std::move(sweep)) {
  switch (sweep_.method) {
    case spec::SweepSpec::Method::grid:
      count_ = 1;
      for (const spec::SweepAxis& axis : sweep_.axes) count_ *= axis.front().count();
      break;
    case spec::SweepSpec::Method::list:
      count_ = sweep_.axes.front().front().count();
      break;
    case spec::SweepSpec::Method::random:
    case spec::SweepSpec::Method::latin_hypercube:
      count_ = static_cast<std::size_t>(sweep_.points);
      for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis)
        drawn_.push_back(quantiles(sweep_, static_cast<std::uint32_t>(axis)));
      break;
  }
}

PointValues PointLayout::at(std::size_t point) const {
  PointValues values;
  std::size_t later = count_;  // number of combinations of the values of all later axes
  for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis) {
    std::size_t index = point;
    if (sweep_.method == spec::SweepSpec::Method::grid) {
      const std::size_t own = sweep_.axes[axis].front().count();
      later /= own;
      index = point / later % own;
    }
    for (const spec::VariedPath& varied : sweep_.axes[axis])
      values.push_back(sweep_.drawn() ? varied.at_quantile(drawn_[axis][point]) : varied.at(index));
  }
  return values;
}

std::vector<PointValues> all_points(const spec::SweepSpec& sweep) {
  const PointLayout layout(sweep);
  std::vector<PointValues> points;
  points.reserve(layout.count());
  for (std::size_t i = 0; i < layout.count(); ++i) points.push_back(layout.at(i));
  return points;
}

SweepPoints::SweepPoints(const std::string& path, std::vector<std::string> overrides, const scenario::Catalog& catalog,
                         bool show_progress)
    : source_(path),
      base_overrides_(std::move(overrides)),
      catalog_(study::remembering(catalog)),
      base_(load_base(source_, base_overrides_, catalog_)) {
  if (!base_.sweep) {
    throw InputError(Diagnostic{path, 0, "<scenario> lacks <sweep>",
                                "add an axis, e.g. <sweep><vary path=\"training.batch\" values=\"16 32\"/></sweep>"});
  }
  for (const spec::VariedPath* varied : varied_paths(specification())) paths_.push_back(varied->path);
  layout_.emplace(specification());
  points_.resize(layout_->count());
  first_seeds_.resize(points_.size());
  check_points(show_progress);
  hash_ = fingerprint_of_all();
}

std::vector<std::string> SweepPoints::overrides(std::size_t point, std::int64_t seed) const {
  std::vector<std::string> overrides;
  const PointValues own = values(point);
  for (std::size_t i = 0; i < paths_.size(); ++i) overrides.push_back(fmt::format("{}={}", paths_[i], own[i]));
  if (seeds() > 1) overrides.push_back(fmt::format("seed={}", seed_of(point, seed)));
  return overrides;
}

scenario::Scenario SweepPoints::scenario(std::size_t point, std::int64_t seed) const {
  const auto changed = [&](const std::string& why) {
    return EnvironmentError(fmt::format("point {} has changed since the sweep began: {}", point + 1, why));
  };
  const auto load = [&](std::int64_t number) {
    std::vector<std::string> all = base_overrides_;
    for (std::string& one : overrides(point, number)) all.push_back(std::move(one));
    return source_.load_point(all, catalog_);
  };
  try {
    scenario::Scenario scenario = load(seed);
    // The hash of the scenario with the first seed identifies all results of a point.
    const std::uint64_t hash = seed == 0 ? scenario.hash : load(0).hash;
    if (hash != points_[point].hash) throw changed("one of its files has changed");
    return scenario;
  } catch (const InputError& error) {
    throw changed(to_string(error.diagnostics().front()));
  }
}

void SweepPoints::check_points(bool show_progress) {
  PointErrors errors(source_.path(), specification());
  Progress progress("checking points", 1, show_progress);
  std::atomic<std::int64_t> done{0};
  std::vector<std::uint64_t> problems(points_.size());
  std::vector<std::vector<std::uint64_t>> keys(points_.size());
  parallel_for_forks(points_.size(), [&](std::size_t i) {
    if (errors.enough()) return;
    if (interrupted().load()) throw Cancelled();
    std::vector<std::string> own;
    const PointValues at = values(i);
    for (std::size_t k = 0; k < paths_.size(); ++k) own.push_back(fmt::format("{}={}", paths_[k], at[k]));
    std::vector<std::string> all = base_overrides_;
    all.insert(all.end(), own.begin(), own.end());
    const auto loaded = outcome_of([&] {
      scenario::Scenario scenario = source_.load_point(all, catalog_);
      if (scenario.seed > std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(seeds() - 1)) {
        throw InputError(Diagnostic{source_.path(), 0, fmt::format("{} seeds from {} on", seeds(), scenario.seed),
                                    "a smaller seed"});
      }
      return scenario;
    });
    if (loaded.result) {
      first_seeds_[i] = loaded.result->seed;
      points_[i].hash = loaded.result->hash;
      std::tie(keys[i], problems[i]) = problem_of(*loaded.result);
    } else if (loaded.fault.infeasible) {
      points_[i].infeasible = in_words_of(loaded.diagnostics());
      points_[i].hash = fingerprint_of_infeasible(own, points_[i].infeasible);
    } else {
      errors.add(i, own, loaded.diagnostics());
    }
    progress.update(0, ++done, static_cast<std::int64_t>(points_.size()));
  });
  errors.throw_if_any();

  std::map<std::uint64_t, std::size_t> known;
  std::set<std::uint64_t> runs;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (!points_[i].infeasible.empty()) continue;
    points_[i].problem = known.emplace(problems[i], known.size()).first->second;
    runs.insert(keys[i].begin(), keys[i].end());
  }
  problems_ = known.size();
  distinct_runs_ = runs.size() * static_cast<std::size_t>(seeds());
}

std::uint64_t SweepPoints::fingerprint_of_all() const {
  scenario::XmlWriter xml;
  write_sweep(xml, specification());
  WireWriter all;
  all << base_.hash << std::string_view(xml.finish());
  for (const SweepPoint& point : points_) all << point.hash;
  return fingerprint(all.bytes());
}

}  // namespace dadsim::study
