#pragma once

#include <cstddef>
#include <set>

#include "step/trajectory.hpp"

namespace dadsim::schedule {

/// Number of rank searches, per layer, worker and step, and of those that are censored: they found fewer components
/// than there are (see step::extent::censored_rank()).
struct CensoredCount {
  double looked = 0;
  double left_out = 0;  ///< searches that recorded fewer components than the learned layer has
};

/// Returns the counts over all steps of a run, on the learned network.
CensoredCount count_censored(const step::Trajectory& trajectory, const spec::ModelShape& learned);

/// Returns the positions in `timed` of layers whose result on `learned` is censored in some step. Such layers are timed
/// with the largest requested rank. `sample_scale` as in instantiate().
std::set<std::size_t> censored_layers(const step::Trajectory& trajectory, const spec::ModelShape& learned,
                                      const spec::ModelShape& timed, double sample_scale);

/// Replaces found ranks by the requested rank (see step::extent::censored_rank()), as if every search found as many
/// components as a layer allows. Returns the largest requested rank; 0 without any search.
double assume_rank_cap(step::Trajectory& trajectory);

}  // namespace dadsim::schedule
