#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/child/loaded_cluster.hpp"
#include "sim/step/steps_by_flow.hpp"

namespace dadsim::sim {

/// Steps by flow on a network whose links may change at known dates: between two changes it is steady, and a step is
/// timed there as on any other. A step that meets several states has its share of each, by how far it has come; it then
/// takes no less than in the quickest of them and no more than in the slowest.
class FlowThroughChanges {
 public:
  FlowThroughChanges(const Cluster& cluster, LoadedCluster& loaded, bool closed_form);

  /// As StepsByFlow::time, of a step that begins at `date`, seconds. Loads are those of links of the loaded network.
  [[nodiscard]] Refused time(double date, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                             const std::vector<double>& slowdown, FlowStep& result, TimelineRecorder* recorder);

  /// As StepsByFlow::without, of the step that was timed last.
  SecondsWithout without(const std::vector<double>& slowdown) { return last_->steps->without(slowdown); }

 private:
  struct Steady {
    std::unique_ptr<Interconnect> network;  ///< null: the loaded one
    std::unique_ptr<StepsByFlow> steps;
    const schedule::Schedule* schedule = nullptr;  ///< of which `last` is, where steps do not jitter
    FlowStep last;
  };
  Steady& steady_at(double date);
  Refused time_in(Steady& steady, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                  const std::vector<double>& slowdown, TimelineRecorder* recorder);
  void add(const FlowStep& step, const Steady& steady, double share, FlowStep& sum);

  LoadedCluster& loaded_;
  bool closed_form_, quick_;
  std::map<SteadyStates::State, Steady> known_;
  Steady* last_ = nullptr;
};

}  // namespace dadsim::sim
