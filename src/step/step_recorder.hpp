#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "step/step.hpp"

namespace dadsim::step {

/// Records one training step in program order: sweeps over layers, and in each sweep a group of ops per layer.
class StepRecorder {
 public:
  /// Starts a new step. `samples`: per worker.
  void begin(std::vector<std::int32_t> samples);

  /// Begins a sweep; arguments are the members of Sweep.
  void begin_sweep(Over over, bool embeddings = false, std::int32_t stage = 0);
  /// Begins the group of ops of this layer; −1 in sweeps that are not over layers.
  void begin_group(std::int32_t layer);
  /// Returns the layer of the current group.
  std::int32_t layer() const;

  /// Returns the kind of the current sweep.
  Over over() const;
  /// Returns whether the current sweep includes tables.
  bool over_embeddings() const;

  /// Appends to the current group; returns the op's serial.
  std::int32_t add(decltype(Op::what) what);

  /// Records numbers (one per worker, or a single one for all); returns their slot, for extent::slot() and related
  /// extents.
  std::int32_t add_slot(std::vector<std::int32_t> numbers);

  /// Records samples per worker of earlier steps whose rows are sent in this step; for extent::earlier_rows().
  std::int32_t add_earlier(std::vector<std::int32_t> samples);

  /// Restricts following ops of the group to layers that take one of these alternatives; 0: no restriction.
  void begin_alternatives(AlternativeSet alternatives) { alternatives_ = alternatives; }
  /// Returns whether following ops are restricted to some alternatives.
  bool in_alternative() const { return alternatives_ != 0; }
  /// Sets the alternatives of the step.
  void offer(Alternatives alternatives) { structure_.alternatives = std::move(alternatives); }

  /// Appends another recording of the same step. Its waits keep referring to its own collectives.
  void append(const StepStructure& structure);

  const StepSizes& sizes() const { return sizes_; }
  const StepStructure& structure() const { return structure_; }
  /// Ends the step, and returns its structure and sizes.
  std::pair<StepStructure, StepSizes> take();

 private:
  StepStructure structure_;
  StepSizes sizes_;
  std::int32_t next_serial_ = 0;
  AlternativeSet alternatives_ = 0;
};

}  // namespace dadsim::step
