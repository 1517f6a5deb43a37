#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/schedule.hpp"

// How layers choose among the alternatives of a step.

namespace dadsim::schedule {

/// Bytes that all nodes together send in a task, each counted once: a gather takes what every worker hands over, a
/// broadcast hands its bytes to every worker, an all-gather brings everyone what the others have, and an all-reduce of
/// n bytes moves 2 (S − 1) n, which is the least it can (Patarasuk & Yuan, J. Parallel Distrib. Comput. 2009).
double bytes_sent(const Task& task, std::size_t workers);

/// What a task costs, for a choice between alternatives; `workers` of the step.
using Price = std::function<double(const Task& task, std::size_t workers)>;

/// What each alternative of a layer of the timed network costs.
struct LayerCosts {
  std::size_t position = 0;   ///< in the timed network
  std::vector<double> costs;  ///< per alternative; infinity: it has not got that
  bool chained = false;       ///< Δ may come down from the layer after it among these
};

/// Per layer with an outer product of the timed network, first to last; nothing where the step has no alternatives.
/// Arguments as of instantiate.
std::vector<LayerCosts> costs_of_alternatives(const step::StepStructure& structure, const step::StepSizes& sizes,
                                              const spec::ModelShape& learned, const spec::ModelShape& timed,
                                              double sample_scale, spec::Precision precision, const Price& price);

/// Takes an alternative for every layer so that the sum of their costs is least: a layer that needs what comes from
/// above has a layer above it that passes that down, and such a layer has one below that needs it. The layers are a
/// chain, so that the best way through them is found from the last to the first, exactly (Viterbi). Of equally good
/// ones the alternative that stands first is taken. `layers` in the order of the network; `positions` is how many
/// layers of any kind the network has. Nothing where no alternative fits a layer.
std::optional<step::Assignment> least_of(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                                         std::size_t positions);
/// The same where one does: throws std::logic_error otherwise.
step::Assignment choose(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                        std::size_t positions);

/// Those that send the fewest bytes in all; arguments as of instantiate.
step::Assignment fewest_bytes(const step::StepStructure& structure, const step::StepSizes& sizes,
                              const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                              spec::Precision precision);

/// What a choice is made of where time counts: seconds per collective and per byte of it, and of computing.
struct Prices {
  struct AssignedCollective {
    double once = 0;      ///< seconds for each
    double per_byte = 0;  ///< seconds per byte of the worker that hands over most
  };
  AssignedCollective gather, broadcast, all_reduce, all_gather;
  struct Device {
    double per_flop = 0;        ///< seconds
    double per_byte_moved = 0;  ///< seconds; the longer of arithmetic and memory counts
    double per_launch = 0;      ///< seconds
  };
  Device worker, aggregator;

  /// Seconds of a task by these prices, one after the other: nothing overlaps.
  double of(const Task& task, std::size_t workers) const;
};

}  // namespace dadsim::schedule
