#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/step/compute_time.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// What computations of a schedule take on its nodes. Nodes with equal devices that do the same are looked at once.
class NodeSeconds {
 public:
  /// `slowdown`: per host, multiplies the seconds; empty: 1.
  NodeSeconds(const Nodes& nodes, const Parts& parts, const schedule::Schedule& schedule,
              const std::vector<double>& slowdown)
      : parts_(parts), schedule_(schedule), slowdown_(slowdown), compute_(nodes.devices, schedule) {
    std::map<std::pair<std::string, double>, std::size_t> classes;
    for (std::size_t node = 0; node < parts.nodes(); ++node) {
      const spec::DeviceSpec& device = *nodes.devices[parts.host_index(node)];
      class_of_.push_back(classes.try_emplace({device.name, device.slowdown}, classes.size()).first->second);
    }
    known_.resize(classes.size());
    const auto differs = [](const schedule::Task& task) {
      const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
      return compute != nullptr && !is_uniform(*compute);
    };
    const auto workers = std::span(class_of_).first(parts.workers());
    are_unequal_ = std::ranges::adjacent_find(slowdown, std::not_equal_to()) != slowdown.end() ||
                   std::ranges::any_of(schedule.tasks, differs) ||
                   std::ranges::adjacent_find(workers, std::not_equal_to()) != workers.end();
  }

  /// Whether workers compute at different speed, or different amounts.
  bool are_unequal() const { return are_unequal_; }

  /// What a worker computes in a step, of all stages.
  double of_step() {
    if (of_step_ < 0) {
      of_step_ = 0;
      for (const schedule::Task& task : schedule_.tasks) {
        const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
        if (compute == nullptr || compute->who != step::Role::workers || compute->copy != schedule::HostCopy::none)
          continue;
        begin(*compute);
        of_step_ += of(0, *compute);
      }
    }
    return of_step_;
  }

  void begin(const schedule::ComputeTask& task) {
    uniform_ = is_uniform(task);
    std::ranges::fill(known_, -1);
  }
  /// Of the task that has begun.
  double of(std::size_t node, const schedule::ComputeTask& task) {
    double seconds = uniform_ ? known_[class_of_[node]] : -1;
    if (seconds < 0) {
      seconds = compute_.seconds(parts_.host_index(node), task, parts_.entry(node));
      if (uniform_) known_[class_of_[node]] = seconds;
    }
    return slowdown_.empty() ? seconds : seconds * slowdown_[parts_.host_index(node)];
  }

 private:
  static bool is_uniform(const schedule::ComputeTask& task) {
    return task.flops.is_uniform() && task.bytes_moved.is_uniform() && task.launches.is_uniform() &&
           task.seconds.is_uniform();
  }

  const Parts& parts_;
  const schedule::Schedule& schedule_;
  const std::vector<double>& slowdown_;
  ComputeTime compute_;
  std::vector<std::size_t> class_of_;  ///< per node: a number for its device, and how slow it is
  std::vector<double> known_;          ///< seconds of the task at hand, per class
  double of_step_ = -1;                ///< seconds; negative: not known yet
  bool uniform_ = false, are_unequal_ = false;
};

}  // namespace dadsim::sim
