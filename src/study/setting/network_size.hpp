#pragma once

#include <optional>
#include <vector>

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// Returns the tokens per sample of workloads whose samples are sequences; otherwise none.
std::optional<double> tokens_per_sample(const spec::TimedAsSpec& timed);

/// Returns the size of a network relative to a step of `batch` samples of all workers, on average. rows_per_width:
/// numbers in the factors A and Δ that dAD would share for all sites, Σ rows (in + out), ÷ numbers in the gradient, Σ
/// in · out, over the layers with an outer product. The critical batch is left open.
report::StudiedSize size_of(const spec::ModelShape& shape, double batch);

/// Returns the decades (log₁₀) of each kind of size, for estimate::Ladder; NaN for unknown sizes.
std::vector<double> decades_of(const report::StudiedSize& size, const std::vector<spec::SizeKind>& kinds);
/// Returns whether all of them are known.
bool are_known(const std::vector<double>& decades);

/// Returns the size of the workload in a scenario's <timed-as>, with its critical batch from published steps at two
/// batches or more, if there are any.
report::StudiedSize size_of_workload(const scenario::Scenario& scenario);

}  // namespace dadsim::study
