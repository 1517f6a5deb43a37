#pragma once

#include "models/dataset.hpp"
#include "models/network.hpp"

namespace dadsim {

struct Quality {
  double loss = 0;      ///< mean cross-entropy, nats
  double accuracy = 0;  ///< ties go to the lowest class
  double auc = 0;       ///< one class against the rest, ties count half, mean over classes with both positives and negatives
};

/// Quality of a network on samples.
Quality evaluate(const Network& network, const Samples& samples);

/// The same from logits (rows × classes).
Quality evaluate_logits(const Matrix& logits, const std::vector<std::int32_t>& labels);

}  // namespace dadsim
