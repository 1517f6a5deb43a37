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

/// Returns the cluster without the inside of islands: the first device of each, as slow as the island's slowest device.
sim::Cluster outside_of_islands(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const sim::Cluster& cluster);

/// Times the training steps of islands. A step of an island is the synchronous step of its devices alone, with the
/// gradients of its replicas summed, simulated by sim::time_schedules on warm connections. Islands with equal devices
/// and links share one timing, as do all runs and what-ifs that change nothing inside. If steps differ (jitter,
/// profiles, background traffic), kVaryingSteps of them are timed and repeated in turn.
class IslandSteps {
 public:
  static constexpr std::size_t kVaryingSteps = 16;

  /// `problem`: the data of islands. `sample_scale`: timed samples ÷ learned samples.
  IslandSteps(const scenario::Scenario& scenario, const spec::RunSpec& run, const algorithms::LearningProblem& problem,
              const TimedAs& timed, double sample_scale, const sim::Cluster& cluster, IslandMemory& memory);

  /// Returns the mean seconds of the island's steps first … first + count − 1, with that many learned samples each.
  double seconds(std::size_t island, std::int64_t samples, std::int64_t first, std::int64_t count);
  std::size_t islands() const { return clusters_.size(); }
  std::size_t devices() const { return devices_; }  ///< devices of each island
  std::size_t replicas() const { return replicas_; }
  /// Returns steps `numbers` of a method that is learned first, among islands: the method's step for the network
  /// `whole`, among that many devices. Passes take their time in the island's own step, scaled by the method's passes ÷
  /// the passes of gradient sharing on one device. Devices share all other work. `outside`: outside_of_islands().
  std::vector<schedule::Schedule> schedules_among(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const std::vector<std::size_t>& numbers, const TimedAs& whole,
                                                  const sim::Cluster& outside);
  /// Returns the share of the parameters on a device, for work that is done once per parameter.
  double share_of_parameters() const;
  /// Returns the shortest and the longest of the timed steps, seconds.
  std::pair<double, double> range() const;

 private:
  using Key = std::pair<std::size_t, std::int64_t>;  ///< island, samples
  const std::vector<double>& steps_of(std::size_t island, std::int64_t samples);
  /// Forgets changes of links that no island uses.
  void keep_changes_inside();
  schedule::Schedule step_of(std::int64_t samples) const;
  /// Returns a step of gradient sharing with that many samples on one device.
  schedule::Schedule plain_step(std::int64_t samples, const TimedAs& whole) const;

  IslandMemory& memory_;
  std::string setting_;  ///< everything that a step depends on beside its samples; empty if steps differ
  std::size_t replicas_ = 1, devices_ = 1;
  spec::RunSpec inner_;  ///< gradient sharing among the replicas of an island
  spec::ModelShape learned_;
  TimedAs timed_;
  step::Trajectory recorded_;  ///< one recorded step of `inner_`
  std::vector<sim::Cluster> clusters_;
  std::vector<std::size_t> like_;  ///< per island, the first island with the same timing
  std::map<Key, std::vector<double>> seconds_;
};

/// World whose first nodes are islands. IslandSteps gives the time of their training steps; other work is divided among
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
