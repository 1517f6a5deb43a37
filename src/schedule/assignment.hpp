#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/schedule.hpp"

// Choice of each layer among the alternatives of a step.

namespace dadsim::schedule {

/// Returns the bytes that all nodes together send in a task, each counted once. A gather takes what every worker sends,
/// a broadcast sends its bytes to every worker, an all-gather gives every worker the others' data. An all-reduce of n
/// bytes moves 2 (S − 1) n, the minimum (Patarasuk & Yuan, J. Parallel Distrib. Comput. 2009).
double bytes_sent(const Task& task, std::size_t workers);

/// Cost of a task, for a choice between alternatives; `workers` of the step.
using Price = std::function<double(const Task& task, std::size_t workers)>;

/// Costs of a timed layer's alternatives.
struct LayerCosts {
  std::size_t position = 0;   ///< layer's position in the timed network
  std::vector<double> costs;  ///< per alternative; infinity: the layer does not have it
  bool chained = false;       ///< true: the layer can take its Δ from the next layer
};

/// Returns the costs per layer with an outer product of the timed network, first to last; empty if the step has no
/// alternatives. Arguments as in instantiate().
std::vector<LayerCosts> costs_of_alternatives(const step::StepStructure& structure, const step::StepSizes& sizes,
                                              const spec::ModelShape& learned, const spec::ModelShape& timed,
                                              double sample_scale, spec::Precision precision, const Price& price);

/// Chooses an alternative for every layer so that the sum of their costs is least. Some alternatives take data from the
/// layer above; that layer must then choose one that passes data down, and vice versa. The layers form a chain, so that
/// the best path is found exactly, from the last to the first (Viterbi). Ties go to the first alternative. `layers` are
/// in the order of the network; `positions`: number of all its layers. Returns none if no alternative fits a layer.
std::optional<step::Assignment> least_of(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                                         std::size_t positions);
/// Does the same, but throws std::logic_error if there is none.
step::Assignment choose(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                        std::size_t positions);

/// Returns the choice with the fewest bytes in all; arguments as in instantiate().
step::Assignment fewest_bytes(const step::StepStructure& structure, const step::StepSizes& sizes,
                              const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                              spec::Precision precision);

/// Prices for a choice by time: seconds per collective, per byte sent, and of computing.
struct Prices {
  struct AssignedCollective {
    double once = 0;      ///< seconds per collective
    double per_byte = 0;  ///< seconds per byte of the worker that sends most
  };
  AssignedCollective gather, broadcast, all_reduce, all_gather;
  struct Device {
    double per_flop = 0;        ///< seconds per floating-point operation
    double per_byte_moved = 0;  ///< seconds per byte; the longer of arithmetic and memory counts
    double per_launch = 0;      ///< seconds per kernel launch
  };
  Device worker, aggregator;

  /// Returns the seconds of a task by these prices, without any overlap.
  double of(const Task& task, std::size_t workers) const;
};

}  // namespace dadsim::schedule
