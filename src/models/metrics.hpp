#pragma once

#include "models/data/dataset.hpp"
#include "models/network.hpp"

namespace dadsim::models {

struct Quality {
  double loss = 0;      ///< mean cross-entropy, nats; NaN if a logit is not finite
  double accuracy = 0;  ///< share of right predictions; on a tie the lowest class is predicted; a row with a logit that
                        ///< is not finite counts as wrong
  /// Area under the ROC curve of a class against all others, by the class's (log) probability; ties count half. Mean
  /// over the classes with both positives and negatives; NaN if there is none, or if a logit is not finite.
  double auc = 0;
};

/// Returns the quality of a network on samples (at least one), in blocks of rows. Throws std::logic_error for labels
/// that do not fit.
Quality evaluate(const Network& network, const Samples& samples);

/// Returns the quality of predictions given as logits (rows × classes), as evaluate() does.
Quality evaluate_logits(const Matrix& logits, const std::vector<std::int32_t>& labels);

}  // namespace dadsim::models
