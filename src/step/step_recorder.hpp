#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "step/step.hpp"

namespace dadsim::step {

/// Writes down one training step in program order: sweeps over layers, in each a group of ops per layer.
class StepRecorder {
 public:
  /// Starts a new step. `samples` per worker.
  void begin(std::vector<std::int32_t> samples);

  /// `tables`: see Sweep.
  void begin_sweep(Over over, bool embeddings = false, std::int32_t stage = 0);
  /// Ops that follow are for this layer; -1 in sweeps that are not over layers.
  void begin_group(std::int32_t layer);
  /// Layer of the current group.
  std::int32_t layer() const;

  /// What the current sweep is over.
  Over over() const;
  /// Whether the current sweep goes over tables too.
  bool over_embeddings() const;

  /// Appends to the current group; returns the op's serial.
  std::int32_t add(decltype(Op::what) what);

  /// Notes numbers that turned out (one per worker, or a single one for all); returns the slot for extent::slot() and
  /// relatives.
  std::int32_t add_slot(std::vector<std::int32_t> numbers);

  /// Notes samples per worker of earlier steps whose rows are sent with this one's; for extent::earlier_rows().
  std::int32_t add_earlier(std::vector<std::int32_t> samples);

  /// Until the next group begins: what is appended is done only where a layer takes one of these; 0: whatever it takes.
  void begin_alternatives(AlternativeSet alternatives) { alternatives_ = alternatives; }
  /// Whether what is appended is done only where a layer takes some alternatives.
  bool in_alternative() const { return alternatives_ != 0; }
  /// Among which each layer takes one.
  void offer(Alternatives alternatives) { structure_.alternatives = std::move(alternatives); }

  /// Appends what another recorder has taken down of the same step: its waits still mean its own collectives.
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
