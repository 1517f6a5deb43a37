#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"
#include "spec/stages.hpp"
#include "step/neighbours.hpp"
#include "step/step.hpp"

namespace dadsim::schedule {

/// One value per worker. Equal values are stored once, inline, because a schedule has millions of them.
class PerWorker {
 public:
  PerWorker() = default;
  explicit PerWorker(const std::vector<double>& values);
  explicit PerWorker(double value) : value_(value) {}  ///< the value of all workers
  double operator[](std::size_t worker) const { return values_ == nullptr ? value_ : values_->at(worker); }
  bool operator==(const PerWorker& other) const;
  PerWorker scaled(double factor) const;
  PerWorker plus(const PerWorker& other) const;
  bool is_uniform() const { return values_ == nullptr; }

 private:
  double value_ = 0;                                   ///< the value of all workers, if `values_` is null
  std::shared_ptr<const std::vector<double>> values_;  ///< immutable, so that copies share them
};

/// Shape of a layer's kernel; zeros: unknown.
struct KernelShape {
  double in = 0, out = 0;  ///< dense layer's matrix: numbers per input row and per output row
  double head_size = 0;    ///< attention: size of a head
  double seen = 0;         ///< attention: mean number of positions that a query attends to
  double skipped = 1;      ///< fused attention: multiply-adds of plain attention ÷ multiply-adds computed
  bool fused = false;      ///< true: fused attention, which never writes its scores
  /// Bytes, in 16 bit, that kernels after the product move per output number (for attention: per score), in the forward
  /// and in the backward pass.
  double passed_forward = 0, passed_back = 0;
  spec::FlashLibrary library = spec::FlashLibrary::any;
  /// Program whose operators are known (spec::LayerPasses). The bytes above, and all members below, are for this
  /// program and its precision.
  spec::Program program = spec::Program::typical;
  double passed_weights = 0;                     ///< bytes per output number, for the gradient of the weights
  double unfused_forward = 0, unfused_back = 0;  ///< fused attention: bytes per score that plain attention would write
  double passed_once = 0;                        ///< bytes that do not depend on the number of rows
  double kernels = 0;                            ///< number of kernels of the task
  double between = 0;                            ///< device seconds between consecutive kernels
  double host = 0;                               ///< host seconds for all kernels
  bool operator==(const KernelShape&) const = default;
};

/// The shape of a task's kernel, which the copies of the task for all micro-batches share.
class SharedShape {
 public:
  SharedShape& operator=(const KernelShape& shape) {
    shape_ = std::make_shared<const KernelShape>(shape);
    return *this;
  }
  const KernelShape& operator*() const { return shape_ == nullptr ? kUnknown : *shape_; }
  const KernelShape* operator->() const { return &**this; }
  bool operator==(const SharedShape& other) const { return shape_ == other.shape_ || **this == *other; }

 private:
  static constexpr KernelShape kUnknown{};
  std::shared_ptr<const KernelShape> shape_;  ///< immutable, so that copies share it; null: unknown
};

/// Action of a task on the link between a device and its host's memory, or on the host's launches. The link carries one
/// copy at a time in each direction.
enum class HostCopy : std::uint8_t {
  none,
  to_host,         ///< starts a copy to the host that takes the task's `seconds`, concurrently with computations
  from_host,       ///< starts a copy from the host, after all copies to the host have arrived
  wait_to_host,    ///< waits until all copies to the host are done
  wait_from_host,  ///< waits until all copies from the host are done
  launch,          ///< no copy: the host starts to launch the following kernels, after earlier launches; takes the
                   ///< task's `seconds`
  wait_launch,     ///< waits until the host has launched these kernels
};

/// A computation with numeric sizes. At the aggregator (who == aggregator) the values have one entry.
struct ComputeTask {
  step::Phase phase = step::Phase::forward;
  step::Role who = step::Role::workers;
  PerWorker flops, bytes_moved, launches;
  PerWorker seconds = {};  ///< additional seconds, of the host or of the link to it; or all seconds, if recorded
  SharedShape shape = {};
  double weights = 0;     ///< in × out of the layer's matrix, or of all its experts' matrices; 0 without a matrix
  double sequential = 1;  ///< number of equal parts of the work, done in sequence
  double overlap = 1;     ///< number of windows of a convolution that contain each input
  double copied = 0;      ///< bytes copied between the device and its host
  HostCopy copy = HostCopy::none;
  spec::LayerKind kind = spec::LayerKind::dense;  ///< kind of its layer; element_wise for several layers
  /// True if the task is part of a pass through the network, without a wait for messages; repeated for every
  /// micro-batch.
  bool of_pass = false;
  bool recorded = false;  ///< true: `seconds` were measured on the device, and scale with its speed
  bool operator==(const ComputeTask&) const = default;
};

/// Participants of a collective, if replicas have several devices.
enum class Among : std::uint8_t {
  replicas,       ///< devices at the same place of every replica; all places at once
  tensor,         ///< the devices of one stage of one replica; all replicas at once
  context,        ///< devices that have a part of each sequence; all such groups at once
  shard_group,    ///< replicas that divide states or parameters (Schedule::shard_group); all places and groups at once
  shard_copies,   ///< replicas with the same part of states or parameters; the groups of all places at once
  experts,        ///< devices of a stage that divide experts (Schedule::experts); all such groups at once
  expert_copies,  ///< devices of a stage that hold the same experts; the groups of all places at once
  stages,         ///< one stage of every replica, and another stage (stage_send)
};

/// A collective with numeric sizes.
struct CollectiveTask {
  step::CollectiveKind kind = step::CollectiveKind::gather;
  PerWorker bytes;                 ///< bytes that each worker contributes (an all-reduce: of its whole vector); for a
                                   ///< broadcast one value, the bytes that each worker receives
  std::string algorithm = "auto";  ///< name in the registry of collectives
  std::shared_ptr<const step::Neighbours> neighbours{};  ///< neighbour_exchange: receivers of each worker
  Among among = Among::replicas;
  std::int32_t to_stage = -1;  ///< stage_send: receiving stage
  /// Experts per row, for an all-to-all that sends a row once to each device or node that has some of the row's
  /// experts. 0: a row is sent to each of its experts.
  std::int64_t row_experts = 0;
  /// Compares by value, including the graph.
  bool operator==(const CollectiveTask& other) const;
};

struct WaitTask {
  step::Role who = step::Role::workers;
  std::int32_t collective = 0;  ///< index of the collective in Schedule::tasks, smaller than this task's index
  bool operator==(const WaitTask&) const = default;
};

inline constexpr std::int32_t kEveryStage = -1;

struct Task {
  std::string layer;  ///< name of the task's layer, for spans
  std::variant<ComputeTask, CollectiveTask, WaitTask> what;
  std::int32_t stage = kEveryStage;  ///< pipeline stage of the task (stage_send: the sender)
  bool operator==(const Task&) const = default;
};

/// One training step with numeric sizes, for simulation. Workers are numbered 0 … workers − 1. Every participant
/// executes its tasks in order; collectives run concurrently with its computations until they are waited for.
///
/// With several devices per replica, `workers` counts devices. Device t of part c of the sequences in stage p of
/// replica d has number t + tensor × (c + context × (d + replicas × p)). Values per worker are then values per replica:
/// entry d. `experts` devices of a stage divide its experts; their numbers are `expert_tensor` apart. A device runs its
/// collectives with the same `among` one after the other; stage_send one after the other per direction.
struct Schedule {
  std::size_t workers = 0;
  bool uses_aggregator = false;
  std::vector<Task> tasks;
  spec::Precision precision = spec::Precision::fp32;  ///< precision of the computations
  std::int32_t tensor = 1;                            ///< devices that divide every layer
  std::int32_t pipeline = 1;                          ///< pipeline stages
  std::int32_t context = 1;                           ///< devices that have a part of each sequence
  std::int32_t shard_group = 0;                       ///< replicas in a group that divides states or parameters; 0: all
  std::int32_t experts = 1;                           ///< devices of a stage that divide experts, `expert_tensor` apart
  std::int32_t expert_tensor = 1;                     ///< adjacent devices that divide each of these experts

  std::int32_t devices() const { return tensor * context * pipeline; }  ///< devices of a replica
  std::size_t replicas() const { return workers / static_cast<std::size_t>(devices()); }
  bool operator==(const Schedule&) const = default;
};

/// Returns true if workers begin the next step together, after all have received all messages. Without such a barrier a
/// worker waits only for its neighbours' messages, and begins its next step when its own step is done.
bool has_barrier(const Schedule& schedule);

/// Returns `count` copies of the schedule, one after the other.
Schedule repeated(const Schedule& schedule, std::size_t count);

/// Bytes of gradients after which the stages that use them start; see Sweep::stage.
struct Buckets {
  double bytes = 0;  ///< bytes per bucket; 0: stages start when all gradients exist
  double first = 0;  ///< bytes of a step's first bucket, if fewer
};

/// Computes the sizes of a recorded step for a network. `learned`: the network on which the step was recorded; `timed`:
/// the network to time (the same, or a workload, to which groups of layers are mapped by relative depth).
/// `sample_scale`: timed samples ÷ learned samples per worker. In 16 bit, floats of the step take two bytes on the wire
/// and in memory. The optimizer is an exception: it reads a 16-bit gradient and writes a 16-bit copy of the weights
/// next to its fp32 master, which together are as many bytes as in fp32. Integers and bits keep their size. If the step
/// has alternatives, each layer of `timed` takes the one in `assignment`; without it, the one with the fewest bytes
/// (see assignment.hpp). `only`: creates the tasks of these layers of `timed`, and those of the network's end if they
/// include its last layer. `keep_empty`: keeps collectives without bytes and the waits for them, so that task numbers
/// do not depend on sizes.
Schedule instantiate(const step::StepStructure& structure, const step::StepSizes& sizes,
                     const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale = 1.0,
                     spec::Precision precision = spec::Precision::fp32, const step::Assignment* assignment = nullptr,
                     const Buckets& buckets = {}, const spec::LayerRange* only = nullptr, bool keep_empty = false);

/// Returns the learned matrix layer that represents matrix layer `timed` of `timed_layers`: the one at the same
/// relative depth. First and last layers correspond.
std::size_t layer_at_same_depth(std::size_t timed, std::size_t timed_layers, std::size_t learned_layers);

/// Returns the schedule restricted to some of its replicas, in ascending order: their computations and messages, and
/// the edges between them.
Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas);

}  // namespace dadsim::schedule
