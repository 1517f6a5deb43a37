#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::study {

/// The texts that a point sets, in the order of varied_paths().
using PointValues = std::vector<std::string>;

/// All paths that are varied, axis by axis.
std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep);

/// The points of a sweep, each worked out when it is asked for: a million of them take the memory of what was drawn.
/// The same specification gives the same points.
class PointLayout {
 public:
  explicit PointLayout(spec::SweepSpec sweep);
  std::size_t count() const { return count_; }
  /// Of a grid the last axis changes first.
  PointValues at(std::size_t point) const;

 private:
  spec::SweepSpec sweep_;
  std::size_t count_ = 0;
  std::vector<std::vector<double>> drawn_;  ///< per axis, a number in (0, 1) for each point
};

/// Every point of the sweep.
std::vector<PointValues> all_points(const spec::SweepSpec& sweep);

/// Every `count`-th point of a sweep, from point `number` on.
struct Shard {
  std::int64_t number = 1;  ///< 1 … count
  std::int64_t count = 1;
  bool holds(std::int64_t point) const { return (point - number) % count == 0; }  ///< `point` counts from 1
};

/// A point of a sweep: the scenario with other values.
struct SweepPoint {
  std::uint64_t hash = 0;       ///< Scenario::hash
  std::string infeasible = {};  ///< the fault that keeps it from going; empty: it goes
  std::size_t problem = 0;      ///< of one that goes: index among the learning problems of all
};

/// A scenario with a <sweep>, and all its points, each loaded and checked as a scenario of its own.
class SweepPoints {
 public:
  /// Throws InputError with everything that is wrong with the scenario and, at the lines of their <vary>, with its
  /// points; what is infeasible of them is none of that, and said there. `overrides` are those of --set, applied before
  /// those of the points.
  SweepPoints(const std::string& path, std::vector<std::string> overrides, const scenario::Catalog& catalog,
              bool show_progress);

  const scenario::Scenario& base() const { return base_; }
  const spec::SweepSpec& specification() const { return *base_.sweep; }
  const std::vector<std::string>& paths() const { return paths_; }
  /// Their numbers, counted from 1, are their indices plus one.
  const std::vector<SweepPoint>& points() const { return points_; }
  /// Of a point, per varied path.
  PointValues values(std::size_t point) const { return layout_->at(point); }
  std::int64_t seeds() const { return specification().seeds; }
  /// Points with the same problem learn the same with the same seed; different runs may still be shared.
  std::size_t problems() const { return problems_; }
  /// What has to be learned from nothing: distinct runs times seeds, without what steps at scale ask for beside them,
  /// and without event-driven runs, which are learned as they are simulated.
  std::size_t distinct_runs() const { return distinct_runs_; }
  /// The hash of everything that results depend on: equal sweeps have equal hashes wherever their files lie.
  std::uint64_t hash() const { return hash_; }
  const std::string& text() const { return source_.text(); }

  const std::vector<std::string>& base_overrides() const { return base_overrides_; }
  /// The changes of a point, "path=value"; with several seeds that of the seed too.
  std::vector<std::string> overrides(std::size_t point, std::int64_t seed) const;
  /// A point as a scenario, with its seed number `seed` (from 0).
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
  std::optional<PointLayout> layout_;  ///< of the base's sweep
  std::vector<SweepPoint> points_;
  std::vector<std::uint64_t> first_seeds_;
  std::size_t problems_ = 0, distinct_runs_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace dadsim::study
