#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "schedule/layer_positions.hpp"
#include "schedule/op_sizing.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::schedule {

/// Expands a recorded step into tasks with numbers for the layers of another network.
class Instantiation {
 public:
  /// Arguments as of instantiate(); `only`: of these layers alone.
  Instantiation(const step::StepStructure& structure, const step::StepSizes& sizes, const spec::ModelShape& learned,
                const spec::ModelShape& timed, double sample_scale, spec::Precision precision,
                step::Assignment assignment, Buckets buckets = {}, const spec::LayerRange* only = nullptr);

  Schedule run();

 private:
  /// Serial and timed position of a collective.
  using Key = std::pair<std::int32_t, std::int32_t>;
  /// What the layers of a bucket send and wait for in a stage.
  struct Merged {
    std::size_t next = 0;  ///< collectives of the layer at hand so far
    std::vector<std::pair<Task, std::vector<Key>>> messages;
    std::vector<std::size_t> number;  ///< per message: its place in the layers' recipes
    std::set<std::int32_t> waited;

    void add(std::size_t place, Task task, Key member);
  };

  /// Where ops were recorded, and which are of the passes through the network.
  void look_through_ops();
  /// Whether the layer takes an alternative that the op belongs to.
  bool is_taken(const step::Op& op, std::size_t position) const;

  void expand(const step::Sweep& sweep);
  void expand_layers(const step::Sweep& sweep, bool backward);
  void expand_layer(const step::Sweep& sweep, std::size_t position);
  void expand_once(const step::Sweep& sweep, const std::vector<const spec::LayerShape*>& layers);
  /// With buckets, how many sweeps from this one on stand together: one over layers, what else was recorded at its end,
  /// and the stages that follow on it; 0 where there are none.
  std::size_t sweeps_in_buckets(std::size_t first) const;
  /// See Sweep::stage. `sweeps` as sweeps_in_buckets() counts them.
  void expand_in_buckets(std::span<const step::Sweep> sweeps);
  /// A sweep over the layers of a bucket. What they send in the same place of their recipes is one message.
  void emit_stage(const step::Sweep& sweep, const Positions& bucket);

  void emit(const step::Op& op, const std::vector<const spec::LayerShape*>& layers, const Place& place);
  void emit_wait(const step::WaitOp& wait, const std::vector<const spec::LayerShape*>& layers, const Place& place);

  const step::StepStructure& structure_;
  const spec::ModelShape& timed_;
  LayerPositions positions_;
  OpSizing sizing_;
  step::Assignment assignment_;
  Buckets buckets_;
  spec::LayerRange only_;
  std::array<spec::LayerShape, 2> all_layers_;        ///< those of a sweep without and with tables, as one
  bool embeddings_apart_ = false;                     ///< some sweep goes over tables
  std::map<std::int32_t, std::int32_t> recorded_at_;  ///< serial → position in the learned network
  std::set<std::int32_t> of_pass_;                    ///< serials: see ComputeTask::of_pass
  std::map<Key, std::int32_t> task_of_;               ///< collective → task
  std::optional<Merged> merged_;
  Schedule schedule_;
};

}  // namespace dadsim::schedule
