#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// What a scenario with <timing-only> says in the place of a network and data.
struct PayloadSpec {
  double bytes = 0;         ///< of a model as it is sent; 0: <timed-as> says what is timed
  double step_seconds = 0;  ///< of a local step, on a device as fast as its kind; with bytes
  /// Of every client, in samples of what is timed; 0: one batch.
  std::int64_t samples = 0;
  bool operator==(const PayloadSpec&) const = default;
};

/// One layer of as many parameters in fp32, a matrix of which nothing is multiplied.
ModelShape payload_shape(double bytes);

/// Numbers that are saved with a model beside its parameters: a decoder that shares the table of words has it once
/// more, and batch norms have running means and variances. Norms are taken for batch norms where there are convolutions
/// and no attention.
double saved_beside_parameters(const ModelShape& shape);

}  // namespace dadsim::spec
