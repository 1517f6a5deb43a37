#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Payload of a scenario with <timing-only>, in place of a network and data.
struct PayloadSpec {
  double bytes = 0;         ///< bytes of a model as sent; 0: follows from <timed-as>
  double step_seconds = 0;  ///< seconds of a local step on a device without slowdown; used with `bytes`
  /// samples of the timed workload per client; 0: one batch
  std::int64_t samples = 0;
  bool operator==(const PayloadSpec&) const = default;
};

/// Returns a network of one layer: a matrix of `bytes` ÷ 4 fp32 parameters, at least one, without multiplications.
ModelShape payload_shape(double bytes);

/// Returns the numbers saved with a model in addition to its parameters. A decoder with tied weights is saved once
/// more, and batch norms have running means and variances. In networks with convolutions and without attention, all
/// norms count as batch norms, unless a layer is named as a layer norm.
double saved_beside_parameters(const ModelShape& shape);

}  // namespace dadsim::spec
