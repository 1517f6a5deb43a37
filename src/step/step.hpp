#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "step/alternatives.hpp"
#include "step/expression.hpp"
#include "step/neighbours.hpp"

namespace dadsim::step {

/// Purpose of a computation; determines the device's efficiency, and the span's name.
enum class Phase : std::uint8_t {
  forward,
  loss,
  backpropagate,
  weight_gradient,
  factorise,      ///< reduction of a message before it is sent: factors, largest entries
  merge,          ///< reduction of the messages of all senders
  add,            ///< sums of gradients or weights
  update,         ///< update by the optimizer
  encode,         ///< conversion of numbers to the bytes of a message
  decode,         ///< conversion of bytes to numbers
  orthogonalise,  ///< matrix products of the optimizer, with the efficiency of layers' products
};

constexpr auto names_of(Phase) {
  using enum Phase;
  return std::to_array<spec::Name<Phase>>({{forward, "forward"},
                                           {loss, "loss"},
                                           {backpropagate, "propagate"},
                                           {weight_gradient, "weight gradient"},
                                           {factorise, "factorise"},
                                           {merge, "merge"},
                                           {add, "add"},
                                           {update, "update"},
                                           {encode, "encode"},
                                           {decode, "decode"},
                                           {orthogonalise, "orthogonalise"}});
}

/// Participants of an operation.
enum class Role : std::uint8_t { workers, aggregator };

/// A computation on the compute stream of every participant. Of several branches with the same result, each layer takes
/// the one with the fewest flops.
struct ComputeOp {
  Phase phase = Phase::forward;
  Role who = Role::workers;
  std::vector<Work> branches;
  bool except_first_layer = false;  ///< true: skips the first layer, whose inputs need no Δ
  bool every_layer = false;         ///< true: includes layers without an outer product (norms, attention, embeddings)
  bool operator==(const ComputeOp&) const = default;
};

enum class CollectiveKind : std::uint8_t {
  gather,              ///< every worker → the aggregator
  broadcast,           ///< the aggregator → every worker
  all_reduce,          ///< every worker ends with the sum
  all_gather,          ///< every worker ends with all data
  reduce_scatter,      ///< every worker ends with its block of the sum
  scatter,             ///< the root sends a different block to every worker
  all_to_all,          ///< every worker sends each other worker its own block
  neighbour_exchange,  ///< every worker sends the same block along the edges of a graph
  stage_send,          ///< every device of a stage sends to the device in the same position of another stage
  reduce,              ///< the root ends with the sum
};
constexpr auto names_of(CollectiveKind) {
  using enum CollectiveKind;
  return std::to_array<spec::Name<CollectiveKind>>({{gather, "gather"},
                                                    {broadcast, "broadcast"},
                                                    {all_reduce, "all-reduce"},
                                                    {all_gather, "all-gather"},
                                                    {reduce_scatter, "reduce-scatter"},
                                                    {scatter, "scatter"},
                                                    {all_to_all, "all-to-all"},
                                                    {neighbour_exchange, "neighbour-exchange"},
                                                    {stage_send, "stage send"},
                                                    {reduce, "reduce"}});
}
/// Returns whether messages go directly to or from the aggregator, which takes no part in collectives among workers.
constexpr bool is_star(CollectiveKind kind) {
  return kind == CollectiveKind::gather || kind == CollectiveKind::broadcast;
}

/// A collective on the network stream. `payload`: data that each worker sends (gather, all_reduce, all_gather), or that
/// the aggregator sends to each worker (broadcast). It starts once the participant's compute stream has reached it, and
/// previous collectives on the network stream have ended. Receives are posted from the start.
struct CollectiveOp {
  CollectiveKind kind = CollectiveKind::gather;
  std::vector<Payload> payload;
  std::shared_ptr<const Neighbours> neighbours = nullptr;  ///< neighbour_exchange: receivers of each worker
  bool operator==(const CollectiveOp& other) const;
};

/// Blocks the compute stream of the participants until their part of a collective is done.
struct WaitOp {
  Role who = Role::workers;
  std::int32_t collective = 0;  ///< serial number of the collective's Op
  bool operator==(const WaitOp&) const = default;
};

struct Op {
  std::int32_t serial = 0;  ///< serial number, unique within the step
  std::variant<ComputeOp, CollectiveOp, WaitOp> what;
  AlternativeSet alternatives = 0;  ///< restricts the op to layers that take one of these alternatives; 0: all layers
  bool operator==(const Op&) const = default;
};

/// Layers for which a sweep's ops are recorded, and repeated in a timed network.
enum class Over : std::uint8_t {
  layers_forward,   ///< one group per matrix layer, first to last
  layers_backward,  ///< one group per matrix layer, last to first
  last_layer,       ///< once, sized by the last matrix layer
  other_layers,     ///< once, sized by the sum over layers without an outer product; dropped if there are none
  all_layers,       ///< once, sized by the parameters of all matrix layers together, as if they were one layer
};

struct Group {
  /// Index among the learned network's layers with an outer product (with a matrix, in a sweep with tables); -1 if the
  /// sweep is not over layers.
  std::int32_t layer = 0;
  std::vector<Op> ops;  ///< ops in program order
  bool operator==(const Group&) const = default;
};

/// Sweep::stage whose messages are merged over all layers, whatever the buckets: one message per position in the
/// layers' op lists.
inline constexpr std::int32_t kTogether = -1;

struct Sweep {
  Over over = Over::layers_forward;
  std::vector<Group> groups;
  /// True if a sweep over layers includes embedding tables as separate matrices. Sweeps over other layers of the step
  /// then exclude them. Other parameters of a table's layer (the biases of a decoder that shares the table) stay in
  /// that layer.
  bool embeddings = false;
  /// 0: an independent sweep. 1, 2, …: stages that follow the latest sweep of stage 0, layer by layer. With buckets,
  /// stage 1 of a bucket follows once that sweep has passed the bucket's last layer. Each later stage of a bucket
  /// follows the previous stage of the next bucket, so that messages of one bucket overlap with processing of the next.
  /// Messages of a stage are merged over the layers of a bucket; with kTogether, over all layers.
  std::int32_t stage = 0;
  bool operator==(const Sweep&) const = default;
};

/// All operations of one training step, in program order, with symbolic sizes.
struct StepStructure {
  std::vector<Sweep> sweeps;
  Alternatives alternatives = {};  ///< choices of each layer; usually none
  bool operator==(const StepStructure&) const = default;
};

/// One recorded step: its structure (usually shared by all steps of a run) and its own sizes.
struct Step {
  std::int32_t structure = 0;  ///< index into Trajectory::structures
  StepSizes sizes;
  /// Indices of the participating sites, if some were absent; empty: all.
  std::vector<std::int32_t> sites = {};
  bool operator==(const Step&) const = default;
};

}  // namespace dadsim::step
