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

/// One value per worker, stored inline once if all are equal, because a schedule has millions of them.
class PerWorker {
 public:
  PerWorker() = default;
  explicit PerWorker(const std::vector<double>& values);
  explicit PerWorker(double value) : value_(value) {}  ///< every worker's value
  double operator[](std::size_t worker) const { return values_ == nullptr ? value_ : values_->at(worker); }
  bool operator==(const PerWorker& other) const;
  PerWorker scaled(double factor) const;
  PerWorker plus(const PerWorker& other) const;
  bool is_uniform() const { return values_ == nullptr; }

 private:
  double value_ = 0;                                   ///< every worker's value without `values_`
  std::shared_ptr<const std::vector<double>> values_;  ///< never changed, so that copies share them
};

/// Shape of a layer's kernel; zeros: unknown.
struct KernelShape {
  double in = 0, out = 0;  ///< dense layer's matrix: numbers per input row and per output row
  double head_size = 0;    ///< attention: size of a head
  double seen = 0;         ///< attention: mean number of positions that a position attends to
  double skipped = 1;      ///< fused attention: products of plain attention ÷ products computed
  bool fused = false;      ///< attention whose scores are never written
  /// Bytes, in 16 bit, that kernels after the product move per output number (for attention, per score): in the forward
  /// pass, and in the backward pass.
  double passed_forward = 0, passed_back = 0;
  spec::FlashLibrary library = spec::FlashLibrary::any;
  /// Operators of the program (spec::LayerPasses). The bytes above, and all members below, hold for this program and
  /// its precision.
  spec::Program program = spec::Program::typical;
  double passed_weights = 0;                     ///< bytes as above, for the gradient of the weights
  double unfused_forward = 0, unfused_back = 0;  ///< fused attention: bytes per score that plain attention would write
  double passed_once = 0;                        ///< bytes that do not depend on the number of rows
  double kernels = 0;                            ///< number of kernels of the task
  double between = 0;                            ///< device seconds between two kernels
  double host = 0;                               ///< host seconds for all kernels
  bool operator==(const KernelShape&) const = default;
};

/// Action of a task on the link between a device and its host's memory, or on the host's launches. In each of its two
/// directions, the link carries one copy after the other.
enum class HostCopy : std::uint8_t {
  none,
  to_host,         ///< begins a copy, for the task's `seconds`, concurrent with computations
  from_host,       ///< begins a copy back, after all copies to the host have arrived
  wait_to_host,    ///< waits until all copies to the host are done
  wait_from_host,  ///< waits until all copies from the host are done
  launch,          ///< no copy: the host begins to launch what follows, which takes it the task's `seconds`, behind
                   ///< what it launches already
  wait_launch,     ///< waits until the host has launched them
};

/// A computation with all sizes as numbers. At the aggregator (who == aggregator) the values have one entry.
struct ComputeTask {
  step::Phase phase = step::Phase::forward;
  step::Role who = step::Role::workers;
  PerWorker flops, bytes_moved, launches;
  spec::LayerKind kind = spec::LayerKind::dense;  ///< kind of its layer; element_wise for several layers
  double weights = 0;                             ///< in × out of its layer's matrix, or of all experts'; 0 without
  double sequential = 1;                          ///< equal parts of the work, done one after the other
  double overlap = 1;                             ///< number of windows of a convolution that hold each input
  /// True: part of a pass through the network that waits for no message; repeated for every micro-batch.
  bool of_pass = false;
  KernelShape shape = {};
  PerWorker seconds = {};  ///< beside what the device computes: of its host, and of the link to it; or as recorded
  bool recorded = false;   ///< true: seconds as measured on the device, which scale with its speed
  HostCopy copy = HostCopy::none;
  double copied = 0;  ///< bytes copied between the device and its host
  bool operator==(const ComputeTask&) const = default;
};

/// Participants of a collective, if replicas have several devices.
enum class Among : std::uint8_t {
  replicas,       ///< devices in the same place of every replica; all places at once
  tensor,         ///< the devices of one stage of one replica; all replicas at once
  context,        ///< the devices that have a part of each sequence; all such groups at once
  shard_group,    ///< replicas that divide states or parameters (Schedule::shard_group); all places and groups at once
  shard_copies,   ///< replicas that have the same part of states or parameters; the groups of all places at once
  experts,        ///< the devices of a stage that divide experts (Schedule::experts); all such groups at once
  expert_copies,  ///< devices of a stage that hold the same experts; the groups of all places at once
  stages,         ///< from one stage of every replica to another (stage_send)
};

/// A collective with all sizes as numbers.
struct CollectiveTask {
  step::CollectiveKind kind = step::CollectiveKind::gather;
  PerWorker bytes;                 ///< bytes sent by each worker; for a broadcast one value, received by each worker
  std::string algorithm = "auto";  ///< name in the registry of collectives
  std::shared_ptr<const step::Neighbours> neighbours{};  ///< neighbour_exchange: receivers of each worker
  Among among = Among::replicas;
  std::int32_t to_stage = -1;  ///< stage_send: receiving stage
  /// Experts per row, for an all-to-all that sends a row once to each device or node with some of its experts. 0: a row
  /// is sent to each expert.
  std::int64_t row_experts = 0;
  /// Compares values, including the graph's.
  bool operator==(const CollectiveTask& other) const;
};

struct WaitTask {
  step::Role who = step::Role::workers;
  std::int32_t collective = 0;  ///< index of the collective in Schedule::tasks, smaller than this task's own
  bool operator==(const WaitTask&) const = default;
};

inline constexpr std::int32_t kEveryStage = -1;

struct Task {
  std::string layer;  ///< name of the task's layer, for spans
  std::variant<ComputeTask, CollectiveTask, WaitTask> what;
  std::int32_t stage = kEveryStage;  ///< pipeline stage that does the task (stage_send: the sender)
  bool operator==(const Task&) const = default;
};

/// One training step with every size a number: what the simulator times. Workers are numbered 0 … workers-1. Every
/// participant goes through the tasks that concern it in order; collectives run beside its computations until waited
/// for.
///
/// With several devices per replica, `workers` counts devices. Device t of part c of the sequences in stage p of
/// replica d has number t + tensor × (c + context × (d + replicas × p)). Values per worker are then values per replica:
/// entry d. `experts` devices of a stage divide its experts; their numbers are `expert_tensor` apart. A device carries
/// out its collectives of the same `among` one after the other; those between stages, per direction.
struct Schedule {
  std::size_t workers = 0;
  bool uses_aggregator = false;
  std::vector<Task> tasks;
  spec::Precision precision = spec::Precision::fp32;  ///< precision of the computations
  std::int32_t tensor = 1;                            ///< devices that divide every layer
  std::int32_t pipeline = 1;                          ///< stages
  std::int32_t context = 1;                           ///< devices that have a part of each sequence
  std::int32_t shard_group = 0;                       ///< replicas in a group that divides states; 0: all
  std::int32_t experts = 1;                           ///< devices of a stage that divide experts, `expert_tensor` apart
  std::int32_t expert_tensor = 1;                     ///< devices that divide each of these experts, adjacent

  std::int32_t devices() const { return tensor * context * pipeline; }  ///< devices of a replica
  std::size_t replicas() const { return workers / static_cast<std::size_t>(devices()); }
  bool operator==(const Schedule&) const = default;
};

/// Returns true if workers begin the next step together, after all have received all messages. Without a barrier,
/// workers wait only for messages of their neighbours, and each begins its next step when its own step is done.
bool has_barrier(const Schedule& schedule);

/// Returns `count` copies of the schedule, one after the other.
Schedule repeated(const Schedule& schedule, std::size_t count);

/// Bytes of gradients after which the stages that use them start: see Sweep::stage.
struct Buckets {
  double bytes = 0;  ///< 0: starts when all gradients exist
  double first = 0;  ///< bytes of the first bucket of a step, if fewer
};

/// Puts numbers in. `learned` is the network the step was recorded on, `timed` the one to time it as (the same, or a
/// workload; groups of layers are then repeated by relative depth). `sample_scale` is timed samples ÷ learned samples
/// per worker. In 16 bit, whatever the step has as floats takes two bytes on the wire and in memory, but for the
/// optimizer: it reads a 16-bit gradient and writes a 16-bit copy of the weights beside its fp32 master, which is as
/// much as it moves in fp32. Integers and bits keep their size. Where the step has alternatives, each layer of `timed`
/// takes the one in `assignment`; without that, those are taken that send the fewest bytes (see assignment.hpp). With
/// `only`, what is done for those layers of `timed`, and what the network's end is for if they hold it. With
/// `keep_empty` collectives that carry no bytes stay, with the waits for them: tasks then have the same numbers
/// whatever the sizes.
Schedule instantiate(const step::StepStructure& structure, const step::StepSizes& sizes,
                     const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale = 1.0,
                     spec::Precision precision = spec::Precision::fp32, const step::Assignment* assignment = nullptr,
                     const Buckets& buckets = {}, const spec::LayerRange* only = nullptr, bool keep_empty = false);

/// Returns the learned matrix layer that represents matrix layer `timed` of `timed_layers`: at the same relative depth;
/// the first and the last layers correspond.
std::size_t layer_at_same_depth(std::size_t timed, std::size_t timed_layers, std::size_t learned_layers);

/// Returns the schedule of some of its replicas, in ascending order: their computations and messages, and the edges
/// between them.
Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas);

}  // namespace dadsim::schedule
