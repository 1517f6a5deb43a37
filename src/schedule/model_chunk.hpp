#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/divide.hpp"
#include "schedule/pipeline_order.hpp"

namespace dadsim::schedule {

inline bool is_forward(step::Phase phase) { return phase == step::Phase::forward || phase == step::Phase::loss; }

/// The layers that a stage has next to one another, and what is done for them in a step (see divide.hpp).
class ModelChunk {
 public:
  ModelChunk(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas, std::int64_t micro_batches,
             spec::LayerRange layers);

  spec::Precision precision() const { return full_.precision; }
  /// Bytes that it passes on per micro-batch, of all devices of the stage together.
  double sends() const { return sends_; }
  const std::string& last_layer() const { return whole_.layers[layers_.end - 1].name; }
  /// Bytes of the table on one device whose entries the last layer of `end` scores; 0 where no layer does.
  double tied_table_bytes(const ModelChunk& end) const;

  /// Adds what is done for a micro-batch in one direction. `last`: what is done once a step goes with it.
  void pass(PassKind kind, bool last, Schedule& out, std::int32_t stage);
  /// Begins to bring back what the first block of a pass back has left with the host.
  void begin_return(Schedule& out, std::int32_t stage);
  /// What came in parts, one to each device of the stage, is put together by all.
  void gather_received(double bytes, Schedule& out, std::int32_t stage) const;
  /// Adds what is done behind the last pass.
  void finish(Schedule& out, std::int32_t stage);

 private:
  /// Parameters that are gathered together where replicas divide them: a block, or what stands outside of blocks.
  struct Unit {
    std::string name;
    double bytes = 0;                         ///< of its parameters on one device, without experts that devices divide
    bool kept = false;                        ///< from the pass forward until the pass back is done
    double learned = 0;                       ///< of its bytes: those of parameters that an update changes
    double experts = 0, learned_experts = 0;  ///< the same of those experts
    double activations = 0;                   ///< bytes of a micro-batch that are with the host until the pass back
    double launches = 0;  ///< seconds of the host for its kernels, there and back, where it cannot run ahead
  };

  void check() const;
  void shard_gradients();
  void offload_updates();
  void add_transfer(const std::string& what, Schedule& out, std::int32_t stage) const;
  void measure_activations();
  void enter_block(std::size_t unit, Schedule& out, std::int32_t stage);
  void leave_block(Schedule& out, std::int32_t stage) const;
  void bring_back_before(std::size_t unit, Schedule& out, std::int32_t stage);
  void add_copy(const Unit& unit, HostCopy copy, Schedule& out, std::int32_t stage) const;
  bool is_weight_gradient(std::size_t index) const;
  bool is_beside_sum(std::size_t index) const;
  void add_held_back(Schedule& out, std::int32_t stage);
  void add_task(std::size_t index, Schedule& out, std::int32_t stage);
  void add_pass_task(const Task& task, Schedule& out, std::int32_t stage);
  void add_layer_sums(const spec::LayerShape& layer, std::size_t position, step::Phase phase, bool before,
                      Schedule& out, std::int32_t stage);
  void exchange_keys(const spec::LayerShape& layer, step::Phase phase, bool before, Schedule& out, std::int32_t stage);
  void exchange_rows(const spec::LayerShape& layer, std::size_t position, step::Phase phase, bool before, Schedule& out,
                     std::int32_t stage) const;
  void recompute(std::string_view block, Schedule& out, std::int32_t stage);
  void add_among(Among among, step::CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                 std::int32_t stage) const;
  std::int32_t begin_among(Among among, step::CollectiveKind kind, const std::string& layer, double bytes,
                           Schedule& out, std::int32_t stage) const;
  static void wait_for(std::vector<std::int32_t>& begun, const std::string& layer, Schedule& out, std::int32_t stage);
  void add_tensor(step::CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                  std::int32_t stage) const;
  std::int32_t add_gather(Among among, const std::string& layer, double bytes, Schedule& out, std::int32_t stage) const;
  std::vector<std::int32_t> add_gathers(const std::string& layer, double bytes, double experts, Schedule& out,
                                        std::int32_t stage) const;
  const std::string& algorithm_of(step::CollectiveKind kind) const;
  void add_collective(const std::string& layer, CollectiveTask collective, const std::vector<std::size_t>& stands_for,
                      Schedule& out, std::int32_t stage);
  void measure_launches();
  void begin_launches(std::size_t unit, Schedule& out, std::int32_t stage);
  void end_launches(Schedule& out, std::int32_t stage);
  void begin_units(bool forward);
  void leave_unit(Schedule& out, std::int32_t stage);
  void enter_unit(std::size_t unit, Schedule& out, std::int32_t stage);
  double rows(const spec::LayerShape& layer) const;
  bool is_column(std::size_t position) const;
  bool divides_sequence(const spec::LayerShape& layer) const;
  bool has_divided_experts(std::size_t position) const;
  bool sharded(spec::Sharding least) const;

  const spec::ModelShape& whole_;
  const spec::ModelShape& device_;
  spec::ParallelismSpec how_;
  double sharers_;     ///< devices that divide states, gradients or parameters
  double groups_ = 1;  ///< of them, which have the same
  double copies_ = 1;  ///< devices that have the same experts, where devices divide them
  spec::LayerRange layers_;
  std::string all_reduce_, all_gather_, reduce_scatter_;
  bool sums_gradients_ = true;
  double samples_ = 0;  ///< of a micro-batch
  double element_ = 4;  ///< bytes
  double sends_ = 0;
  Schedule full_;                     ///< with the whole batch
  std::vector<const Task*> of_pass_;  ///< per task of full_: the same with a micro-batch, where it is of a pass
  Schedule micro_;
  std::size_t forward_end_ = 0, backward_end_ = 0;  ///< tasks of full_ behind the last of each pass
  std::map<std::string_view, std::size_t> position_of_;
  std::vector<std::int32_t> now_at_;  ///< per collective of full_: its task in the result
  std::vector<Unit> units_;           ///< in the order of the forward pass
  std::vector<std::size_t> unit_of_;  ///< per layer
  // Of the pass at hand:
  bool forward_ = true;
  bool only_inputs_ = false;             ///< gradients of weights come later
  bool only_weights_ = false;            ///< gradients of weights, whose inputs are there
  bool sums_groups_ = true;              ///< groups that divide the same sum what they have scattered
  bool hides_sums_ = false;              ///< of the devices of a layer, behind gradients of weights
  std::vector<std::size_t> held_back_;   ///< tasks of full_ that are done beside a sum of the devices of a layer
  std::vector<std::int32_t> beside_[2];  ///< such sums: of what comes in, and of what leaves
  std::vector<std::int32_t> keys_;       ///< collectives that are beside attention, to be waited for behind it
  std::string_view block_;               ///< that it is in
  std::vector<std::size_t> order_;       ///< of units
  std::size_t unit_ = 0;                 ///< that it is in
  std::vector<std::size_t> of_unit_;     ///< collectives of full_ for its gradients, not begun yet
  std::vector<std::vector<std::int32_t>> gathers_;  ///< per unit: the tasks, until they have been waited for
  std::size_t gathered_ = 0;                        ///< of order_
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t at_ = kNone;        ///< unit that it is in, where activations go to the host
  std::size_t brought_back_ = 0;  ///< the unit whose activations have begun to come back last
  std::size_t launched_ = kNone;  ///< the unit whose kernels the host launches
};

}  // namespace dadsim::schedule
