#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::study {

/// Values of a point, in the order of varied_paths().
using PointValues = std::vector<std::string>;

/// Returns all varied paths, axis by axis.
std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep);

/// Computes the points of a sweep on request: memory holds only what was drawn, even for a million points. Equal
/// specifications give equal points.
class PointLayout {
 public:
  explicit PointLayout(spec::SweepSpec sweep);
  std::size_t count() const { return count_; }
  /// Returns a point; in a grid the last axis changes first.
  PointValues at(std::size_t point) const;

 private:
  spec::SweepSpec sweep_;
  std::size_t count_ = 0;
  std::vector<std::vector<double>> drawn_;  ///< drawn numbers in (0, 1), per axis and point
};

/// Returns every point of the sweep.
std::vector<PointValues> all_points(const spec::SweepSpec& sweep);

/// Shard of a sweep: every `count`-th point, from point `number` on.
struct Shard {
  std::int64_t number = 1;  ///< number of the shard: 1 … count
  std::int64_t count = 1;
  bool holds(std::int64_t point) const {
    return (point - number) % count == 0;
  }  ///< Returns whether the shard has
     ///< point number `point` (from 1).
};

/// A point of a sweep: the scenario with other values.
struct SweepPoint {
  std::uint64_t hash = 0;       ///< Scenario::hash
  std::string infeasible = {};  ///< cause of infeasibility; empty: feasible
  std::size_t problem = 0;      ///< for a feasible point: index among all learning problems
};

/// A scenario with a <sweep>, and all its points, each loaded and checked as its own scenario.
class SweepPoints {
 public:
  /// Throws InputError with all errors of the scenario and of its points, the latter at the lines of their <vary>.
  /// Infeasible points are marked, and are no errors. `overrides`: settings of --set, applied before the points'.
  SweepPoints(const std::string& path, std::vector<std::string> overrides, const scenario::Catalog& catalog,
              bool show_progress);

  const scenario::Scenario& base() const { return base_; }
  const spec::SweepSpec& specification() const { return *base_.sweep; }
  const std::vector<std::string>& paths() const { return paths_; }
  /// Returns the points. The number of a point is its index plus one.
  const std::vector<SweepPoint>& points() const { return points_; }
  /// Returns a point's values per varied path.
  PointValues values(std::size_t point) const { return layout_->at(point); }
  std::int64_t seeds() const { return specification().seeds; }
  /// Returns the number of learning problems. Points with the same problem and seed learn the same. Different problems
  /// may still share runs.
  std::size_t problems() const { return problems_; }
  /// Returns the number of runs to learn if nothing is stored: distinct runs × seeds. Excludes additional runs for
  /// relative steps, and event-driven runs, which are learned when they are simulated.
  std::size_t distinct_runs() const { return distinct_runs_; }
  /// Returns a hash of everything that results depend on. Equal sweeps have equal hashes, wherever their files are.
  std::uint64_t hash() const { return hash_; }
  const std::string& text() const { return source_.text(); }

  const std::vector<std::string>& base_overrides() const { return base_overrides_; }
  /// Returns the settings of a point, "path=value"; with several seeds, also the seed's.
  std::vector<std::string> overrides(std::size_t point, std::int64_t seed) const;
  /// Returns a point as a scenario, with its seed number `seed` (from 0).
  scenario::Scenario scenario(std::size_t point, std::int64_t seed) const;
  std::uint64_t seed_of(std::size_t point, std::int64_t seed) const {
    return first_seeds_[point] + static_cast<std::uint64_t>(seed);
  }

 private:
  void check_points(bool show_progress);
  std::uint64_t fingerprint_of_all() const;

  scenario::ScenarioSource source_;
  std::vector<std::string> base_overrides_;
  scenario::Catalog catalog_;
  scenario::Scenario base_;
  std::vector<std::string> paths_;
  std::optional<PointLayout> layout_;  ///< layout of the base scenario's sweep
  std::vector<SweepPoint> points_;
  std::vector<std::uint64_t> first_seeds_;
  std::size_t problems_ = 0, distinct_runs_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace dadsim::study
