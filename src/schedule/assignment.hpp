#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/schedule.hpp"

// Choice of each layer among the alternatives of a step.

namespace dadsim::schedule {

/// Returns the bytes that all nodes together send in a task. In a gather every worker sends its bytes; in a broadcast
/// the aggregator sends its bytes to every worker; in an all-gather every worker receives the data of all others. An
/// all-reduce of n bytes moves 2 (S − 1) n, the minimum (Patarasuk & Yuan, J. Parallel Distrib. Comput. 2009).
double bytes_sent(const Task& task, std::size_t workers);

/// Returns the cost of a task in a step of `workers` workers, to choose between alternatives.
using Price = std::function<double(const Task& task, std::size_t workers)>;

/// Costs of a timed layer's alternatives.
struct LayerCosts {
  std::size_t position = 0;   ///< layer's position in the timed network
  std::vector<double> costs;  ///< cost of each alternative; infinity: the layer lacks it
  bool chained = false;       ///< true: the layer can compute its Δ from the next layer's
};

/// Returns the costs for each layer of the timed network with an outer product, first to last; empty if the step has no
/// alternatives. Arguments as in instantiate().
std::vector<LayerCosts> costs_of_alternatives(const step::StepStructure& structure, const step::StepSizes& sizes,
                                              const spec::ModelShape& learned, const spec::ModelShape& timed,
                                              double sample_scale, spec::Precision precision, const Price& price);

/// Chooses an alternative for every layer such that the sum of costs is least. An alternative with `from_above`
/// requires one with `passes_down` in the layer above, and vice versa. The layers form a chain, so the optimum is found
/// exactly by dynamic programming, from the last layer to the first (Viterbi). On a tie the first alternative wins.
/// `layers`: in the order of the network; `positions`: number of all its layers. Returns none if no alternative fits a
/// layer.
std::optional<step::Assignment> least_of(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                                         std::size_t positions);
/// Chooses like least_of(), but throws std::logic_error if no alternative fits a layer.
step::Assignment choose(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                        std::size_t positions);

/// Returns the assignment that sends the fewest bytes in all. Arguments as in instantiate().
step::Assignment fewest_bytes(const step::StepStructure& structure, const step::StepSizes& sizes,
                              const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                              spec::Precision precision);

/// Costs in seconds for a choice by time: per collective, per byte sent, and of computing.
struct Prices {
  struct AssignedCollective {
    double once = 0;      ///< seconds per collective
    double per_byte = 0;  ///< seconds per byte of the worker with the largest CollectiveTask::bytes
  };
  AssignedCollective gather, broadcast, all_reduce, all_gather;
  struct Device {
    double per_flop = 0;        ///< seconds per floating-point operation
    double per_byte_moved = 0;  ///< seconds per byte; a computation takes the longer of arithmetic and memory
    double per_launch = 0;      ///< seconds per kernel launch
  };
  Device worker, aggregator;

  /// Returns the seconds of a task without any overlap.
  double of(const Task& task, std::size_t workers) const;
};

}  // namespace dadsim::schedule
