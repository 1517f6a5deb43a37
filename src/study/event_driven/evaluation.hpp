#pragma once

#include "protocols/learning.hpp"
#include "report/run/shift_evaluation.hpp"
#include "spec/evaluation_specification.hpp"

namespace dadsim::study {

/// Makes the value of all accuracies that are asked for, of the network with these weights: scalars, row by row of
/// report::ShiftEvaluation, arm by arm, and behind them the bytes of the quantiles of the features and of what batch
/// norms read, and the held-back samples of the sites with the fewest and the most. Sites correct their own test
/// batches; quantiles of training are those of the barycentre of the sites with the samples that they begin with.
/// `learning` outlives the value's working out.
world::Value shift_evaluation(protocols::Learning& learning, const world::Value& weights,
                              const spec::EvaluationSpec& asked);

/// The same to be told, once the value has been worked out.
report::ShiftEvaluation told_of(const world::Value& accuracies, const protocols::Learning& learning,
                                const spec::EvaluationSpec& asked);

}  // namespace dadsim::study
