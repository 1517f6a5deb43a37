#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/learning_problem.hpp"
#include "models/data/dataset.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "spec/specification.hpp"
#include "step/trajectory.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/timed_as.hpp"
#include "world/world.hpp"

namespace dadsim::study {

/// Returns the cluster with one device per island: the first one, as slow as the island's slowest device.
sim::Cluster outside_of_islands(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const sim::Cluster& cluster);

/// Times the training steps of islands. A step of an island is the synchronous step of its devices alone, including the
/// gradient sum of its replicas. sim::time_schedules simulates this step on warm connections. Islands with equal
/// devices and links share one timing; so do runs and what-ifs that change nothing inside islands. If steps differ
/// (jitter, profiles, background traffic), kVaryingSteps of them are timed and repeated in turn.
class IslandSteps {
 public:
  static constexpr std::size_t kVaryingSteps = 16;

  /// `problem`: the data of islands. `sample_scale`: timed samples ÷ learned samples.
  IslandSteps(const scenario::Scenario& scenario, const spec::RunSpec& run, const algorithms::LearningProblem& problem,
              const TimedAs& timed, double sample_scale, const sim::Cluster& cluster, IslandMemory& memory);

  /// Returns the mean seconds of steps first … first + count − 1 of an island, each with `samples` learned samples.
  double seconds(std::size_t island, std::int64_t samples, std::int64_t first, std::int64_t count);
  std::size_t islands() const { return clusters_.size(); }
  std::size_t devices() const { return devices_; }  ///< devices of each island
  std::size_t replicas() const { return replicas_; }
  /// Returns steps `numbers` of a synchronous method among islands, recorded for the network `whole`. The time of
  /// passes comes from the island's own step, scaled by the method's passes ÷ the passes of gradient sharing on one
  /// device. Other work is divided among an island's devices. `outside`: result of outside_of_islands().
  std::vector<schedule::Schedule> schedules_among(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const std::vector<std::size_t>& numbers, const TimedAs& whole,
                                                  const sim::Cluster& outside);
  /// Returns the share of the parameters on one device; scales work that is done once per parameter.
  double share_of_parameters() const;
  /// Returns the shortest and the longest of the timed steps, seconds.
  std::pair<double, double> range() const;

 private:
  using Key = std::pair<std::size_t, std::int64_t>;  ///< island, samples
  const std::vector<double>& steps_of(std::size_t island, std::int64_t samples);
  /// Removes changes of links that no island uses.
  void keep_changes_inside();
  schedule::Schedule step_of(std::int64_t samples) const;
  /// Returns a step of gradient sharing with that many samples on one device.
  schedule::Schedule plain_step(std::int64_t samples, const TimedAs& whole) const;

  IslandMemory& memory_;
  std::string setting_;  ///< text of all inputs of a step except its samples; empty if steps differ
  std::size_t replicas_ = 1, devices_ = 1;
  spec::RunSpec inner_;  ///< gradient sharing among the replicas of an island
  spec::ModelShape learned_;
  TimedAs timed_;
  step::Trajectory recorded_;  ///< one recorded step of `inner_`
  std::vector<sim::Cluster> clusters_;
  std::vector<std::size_t> like_;  ///< per island, the first island with the same timing
  std::map<Key, std::vector<double>> seconds_;
};

/// A world whose first nodes are islands. Training steps take their time from IslandSteps; other work is divided among
/// the devices of an island.
class IslandWorld final : public world::World {
 public:
  IslandWorld(world::World& inner, IslandSteps& steps) : inner_(inner), steps_(steps) {}

  world::Activity compute(world::Node node, const world::Work& work) override {
    return inner_.compute(node, of_island(node, work));
  }
  double seconds_of(world::Node node, const world::Work& work) override {
    return inner_.seconds_of(node, of_island(node, work));
  }
  world::Activity send(world::Node from, world::Node to, double bytes) override { return inner_.send(from, to, bytes); }
  world::Activity collective(const world::Collective& what, world::CollectiveTraffic& traffic) override {
    return inner_.collective(what, traffic);
  }
  world::Activity timer(double seconds) override { return inner_.timer(seconds); }
  void cancel(world::Activity activity) override { inner_.cancel(activity); }
  void set_host(world::Node node, bool up) override { inner_.set_host(node, up); }
  void set_link(const std::string& link, bool up) override { inner_.set_link(link, up); }
  bool is_up(world::Node node) const override { return inner_.is_up(node); }
  std::optional<world::Event> next() override { return inner_.next(); }
  double now() const override { return inner_.now(); }

 private:
  world::Work of_island(world::Node node, const world::Work& work);

  world::World& inner_;
  IslandSteps& steps_;
};

}  // namespace dadsim::study
