#pragma once

#include <optional>
#include <vector>

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// Returns the tokens per sample of workloads with sequences; otherwise none.
std::optional<double> tokens_per_sample(const spec::TimedAsSpec& timed);

/// Returns the size of a network relative to a step of `batch` samples of all workers, on average. rows_per_width is Σ
/// rows (in + out) ÷ Σ in · out over the layers with an outer product: the numbers that dAD would share for all sites ÷
/// the numbers of the gradient. The critical batch is left open.
report::StudiedSize size_of(const spec::ModelShape& shape, double batch);

/// Returns the decades (log₁₀) of each kind of size, for estimate::Ladder; NaN for unknown sizes.
std::vector<double> decades_of(const report::StudiedSize& size, const std::vector<spec::SizeKind>& kinds);
/// Returns whether all decades are known.
bool are_known(const std::vector<double>& decades);

/// Returns the size of the workload in a scenario's <timed-as>. Its critical batch is derived if published steps exist
/// for two batches or more.
report::StudiedSize size_of_workload(const scenario::Scenario& scenario);

}  // namespace dadsim::study
