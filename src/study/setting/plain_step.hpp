#pragma once

#include <cstdint>
#include <memory>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

struct SmallProblem;

/// Training steps of a single device: forward and backward pass, and the update by SGD with momentum; nothing is sent.
class PlainSteps {
 public:
  PlainSteps();
  ~PlainSteps();
  PlainSteps(const PlainSteps&) = delete;
  PlainSteps& operator=(const PlainSteps&) = delete;

  /// Of a network that is timed, `batch` samples a step.
  schedule::Schedule of(const spec::ModelShape& shape, std::int64_t batch, spec::Precision precision) const;

 private:
  std::unique_ptr<SmallProblem> problem_;  ///< what a step does is seen on a small network
};

/// The sum of its computations' times on one device, by the roofline alone (sim::seconds_on).
double seconds_of(const spec::DeviceSpec& device, const schedule::Schedule& schedule);

}  // namespace dadsim::study
