#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "step/step.hpp"

namespace dadsim::step {

/// Records one training step in program order: sweeps over layers, in each a group of ops per layer.
class StepRecorder {
 public:
  /// Starts a new step. `samples`: per worker.
  void begin(std::vector<std::int32_t> samples);

  /// Begins a sweep; arguments as the members of Sweep.
  void begin_sweep(Over over, bool embeddings = false, std::int32_t stage = 0);
  /// Assigns the following ops to this layer; -1 in sweeps that are not over layers.
  void begin_group(std::int32_t layer);
  /// Returns the layer of the current group.
  std::int32_t layer() const;

  /// Returns the kind of the current sweep.
  Over over() const;
  /// Returns whether the current sweep includes tables.
  bool over_embeddings() const;

  /// Appends to the current group; returns the op's serial.
  std::int32_t add(decltype(Op::what) what);

  /// Notes numbers (one per worker, or a single one for all); returns the slot for extent::slot() and its relatives.
  std::int32_t add_slot(std::vector<std::int32_t> numbers);

  /// Notes samples per worker of earlier steps whose rows are sent with this one's; for extent::earlier_rows().
  std::int32_t add_earlier(std::vector<std::int32_t> samples);

  /// Restricts ops, until the next group begins, to layers that take one of these alternatives; 0: no restriction.
  void begin_alternatives(AlternativeSet alternatives) { alternatives_ = alternatives; }
  /// Returns whether appended ops are restricted to some alternatives.
  bool in_alternative() const { return alternatives_ != 0; }
  /// Sets the choices of each layer.
  void offer(Alternatives alternatives) { structure_.alternatives = std::move(alternatives); }

  /// Appends another recording of the same step: its waits still refer to its own collectives.
  void append(const StepStructure& structure);

  const StepSizes& sizes() const { return sizes_; }
  const StepStructure& structure() const { return structure_; }
  /// Ends the step.
  std::pair<StepStructure, StepSizes> take();

 private:
  StepStructure structure_;
  StepSizes sizes_;
  std::int32_t next_serial_ = 0;
  AlternativeSet alternatives_ = 0;
};

}  // namespace dadsim::step
