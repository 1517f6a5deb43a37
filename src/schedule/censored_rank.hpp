#pragma once

#include <cstddef>
#include <set>

#include "step/trajectory.hpp"

namespace dadsim::schedule {

/// Count of rank searches that found less than there was (see step::extent::censored_rank()), per layer, worker and
/// step with a search.
struct CensoredCount {
  double looked = 0;
  double left_out = 0;  ///< searches that noted fewer than the learned layer holds
};

/// Counts over all steps of a run, on the network that learned.
CensoredCount count_censored(const step::Trajectory& trajectory, const spec::ModelShape& learned);

/// Returns the positions in `timed` of layers whose result on `learned` is censored in some step. Such layers are sized
/// with the rank asked for. `sample_scale` as in instantiate().
std::set<std::size_t> censored_layers(const step::Trajectory& trajectory, const spec::ModelShape& learned,
                                      const spec::ModelShape& timed, double sample_scale);

/// Replaces found ranks by the rank asked for (see step::extent::censored_rank()): sizes are then those of a run that
/// always finds as much as a layer allows. Returns the largest rank asked for; 0 without any search.
double assume_rank_cap(step::Trajectory& trajectory);

}  // namespace dadsim::schedule
