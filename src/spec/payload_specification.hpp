#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Payload of a scenario with <timing-only>, in place of a network and data.
struct PayloadSpec {
  double bytes = 0;         ///< bytes of a model as sent; 0: <timed-as> gives the payload
  double step_seconds = 0;  ///< seconds of a local step on an unslowed device of its kind; with `bytes`
  /// Samples per client of the timed workload; 0: one batch.
  std::int64_t samples = 0;
  bool operator==(const PayloadSpec&) const = default;
};

/// Returns one layer with that many fp32 parameters: a matrix without multiplications.
ModelShape payload_shape(double bytes);

/// Returns the numbers saved with a model in addition to its parameters: a decoder that shares the word table saves it
/// once more, and batch norms have running means and variances. Norms count as batch norms in networks with
/// convolutions and without attention.
double saved_beside_parameters(const ModelShape& shape);

}  // namespace dadsim::spec
