#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/scale_study/scale_study_report.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// Tokens of a sample, of workloads whose samples are sequences; none of others.
std::optional<double> tokens_per_sample(const spec::TimedAsSpec& timed);

/// How large a network is beside a step of `batch` samples of all workers, the mean. rows_per_width: numbers in the
/// factors A and Δ that dAD would share of all sites, Σ rows (in + out), ÷ numbers in the gradient, Σ in · out, over
/// the layers that have an outer product. The critical batch is left open.
report::StudiedSize size_of(const spec::ModelShape& shape, double batch);

/// Decades (log₁₀) of each kind of size, as estimate::Ladder takes them; not a number where a size is not known.
std::vector<double> decades_of(const report::StudiedSize& size, const std::vector<spec::SizeKind>& kinds);
/// Whether all of them are.
bool are_known(const std::vector<double>& decades);

/// The size of what a scenario's <timed-as> names, its critical batch from the steps published for it at two batches
/// or more, where there are some.
report::StudiedSize size_of_workload(const scenario::Scenario& scenario);

}  // namespace dadsim::study
