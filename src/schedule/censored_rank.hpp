#pragma once

#include <cstddef>
#include <set>

#include "step/trajectory.hpp"

namespace dadsim::schedule {

/// How often a run found less than there was, see step::extent::censored_rank(): per layer, worker and step where it
/// looked.
struct CensoredCount {
  double looked = 0;
  double left_out = 0;  ///< of these, fewer were noted than the layer that learned holds
};

/// Over all steps of a run on the network that learned.
CensoredCount count_censored(const step::Trajectory& trajectory, const spec::ModelShape& learned);

/// Places in `timed` of the layers for which what was found on `learned` is censored in some step, so that they are
/// sized with what was asked for. `sample_scale` as in instantiate().
std::set<std::size_t> censored_layers(const step::Trajectory& trajectory, const spec::ModelShape& learned,
                                      const spec::ModelShape& timed, double sample_scale);

/// Puts in the place of what was found the number that was asked for, see step::extent::censored_rank(): sizes are then
/// those of a run that always finds as much as a layer allows. Returns the largest number that was asked for; 0 where
/// nothing was looked for.
double assume_rank_cap(step::Trajectory& trajectory);

}  // namespace dadsim::schedule
