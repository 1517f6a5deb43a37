#pragma once

#include <cstddef>
#include <set>

#include "step/trajectory.hpp"

namespace dadsim::schedule {

/// Counts of censored rank searches, which found fewer components than there are (see step::extent::censored_rank()),
/// per layer, worker and step with a search.
struct CensoredCount {
  double looked = 0;
  double left_out = 0;  ///< searches that recorded fewer components than the learned layer has
};

/// Counts over all steps of a run, on the network that learned.
CensoredCount count_censored(const step::Trajectory& trajectory, const spec::ModelShape& learned);

/// Returns the positions in `timed` of layers whose result on `learned` is censored in some step. Such layers are timed
/// with the largest requested rank. `sample_scale` as in instantiate().
std::set<std::size_t> censored_layers(const step::Trajectory& trajectory, const spec::ModelShape& learned,
                                      const spec::ModelShape& timed, double sample_scale);

/// Replaces found ranks by the requested rank (see step::extent::censored_rank()), as if every search found as many
/// components as a layer allows. Returns the largest requested rank; 0 without any search.
double assume_rank_cap(step::Trajectory& trajectory);

}  // namespace dadsim::schedule
