#pragma once

#include <cstdint>
#include <memory>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

struct SmallProblem;

/// Makes training steps of a single device without messages: forward and backward pass, and the update by SGD with
/// momentum.
class PlainSteps {
 public:
  PlainSteps();
  ~PlainSteps();
  PlainSteps(const PlainSteps&) = delete;
  PlainSteps& operator=(const PlainSteps&) = delete;

  /// Returns a step of a timed network, with `batch` samples.
  schedule::Schedule of(const spec::ModelShape& shape, std::int64_t batch, spec::Precision precision) const;

 private:
  std::unique_ptr<SmallProblem> problem_;  ///< problem to record a step's operations from
};

/// Returns the sum of the computations' times on one device, by the roofline alone (sim::seconds_on).
double seconds_of(const spec::DeviceSpec& device, const schedule::Schedule& schedule);

}  // namespace dadsim::study
