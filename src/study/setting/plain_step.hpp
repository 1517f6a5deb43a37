#pragma once

#include <cstdint>
#include <memory>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

struct SmallProblem;

/// Training steps of a single device: forward and backward pass, and the update by SGD with momentum, without messages.
class PlainSteps {
 public:
  PlainSteps();
  ~PlainSteps();
  PlainSteps(const PlainSteps&) = delete;
  PlainSteps& operator=(const PlainSteps&) = delete;

  /// Returns a step of a timed network, with `batch` samples.
  schedule::Schedule of(const spec::ModelShape& shape, std::int64_t batch, spec::Precision precision) const;

 private:
  std::unique_ptr<SmallProblem> problem_;  ///< a small network shows the operations of a step
};

/// Returns the sum of its computations' times on one device, by the roofline alone (sim::seconds_on).
double seconds_of(const spec::DeviceSpec& device, const schedule::Schedule& schedule);

}  // namespace dadsim::study
