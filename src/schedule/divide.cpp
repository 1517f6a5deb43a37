#include "schedule/divide.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/pipeline_order.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/kept_activations.hpp"
#include "spec/stages.hpp"

namespace dadsim::schedule {
namespace {

bool is_forward(step::Phase phase) { return phase == step::Phase::forward || phase == step::Phase::loss; }

using spec::Recomputation;
using spec::Sharding;
using spec::TensorSplit;

const ComputeTask* pass_of(const Task& task) {
  const auto* compute = std::get_if<ComputeTask>(&task.what);
  return compute != nullptr && compute->of_pass ? compute : nullptr;
}

/// A matrix to orthogonalise.
struct WholeMatrix {
  std::size_t task = 0;
  double flops = 0;
};

/// Distributes matrices over devices, the largest first, each to the device with the least work so far. Returns the
/// matrices of the device with the most work.
std::vector<WholeMatrix> of_busiest(std::vector<WholeMatrix> matrices, std::size_t devices) {
  if (devices <= 1) return matrices;
  std::ranges::stable_sort(matrices, std::greater{}, &WholeMatrix::flops);
  using Load = std::pair<double, std::size_t>;  // flops, device
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  std::vector<std::vector<WholeMatrix>> of_device;
  Load busiest;
  for (const WholeMatrix& matrix : matrices) {
    Load next{0, of_device.size()};
    if (of_device.size() < devices) {
      of_device.emplace_back();
    } else {
      next = loads.top();
      loads.pop();
    }
    next.first += matrix.flops;
    of_device[next.second].push_back(matrix);
    busiest = std::max(busiest, next);
    loads.push(next);
  }
  return of_device.empty() ? matrices : std::move(of_device[busiest.second]);
}

bool orthogonalises(const Task& task) {
  const auto* compute = std::get_if<ComputeTask>(&task.what);
  return compute != nullptr && compute->phase == step::Phase::orthogonalise;
}

/// The consecutive layers of one piece of a pipeline, and their tasks in a step.
class ModelChunk {
 public:
  ModelChunk(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas, std::int64_t micro_batches,
             spec::LayerRange layers)
      : whole_(step.whole),
        device_(step.device),
        how_(how),
        sharers_(static_cast<double>(how.sharding_group > 0 ? static_cast<std::size_t>(how.sharding_group)
                                                            : replicas * static_cast<std::size_t>(how.context))),
        layers_(layers),
        all_reduce_(step.all_reduce),
        all_gather_(step.all_gather),
        reduce_scatter_(step.reduce_scatter),
        sums_gradients_(step.sums_gradients),
        samples_(static_cast<double>(step.batch) / static_cast<double>(micro_batches)),
        full_(step.step(layers, step.sample_scale)),
        micro_(step.step(layers, step.sample_scale / static_cast<double>(micro_batches))) {
    element_ = bytes_per_element(full_.precision);
    if (how_.sharding_group > 0) groups_ = static_cast<double>(replicas) / how_.sharding_group;
    check();
    std::map<std::string_view, std::size_t> position_of;
    for (std::size_t i = layers_.first; i < layers_.end; ++i) {
      position_of[whole_.layers[i].name] = i;
      if (whole_.layers[i].expert_group > 1) copies_ = whole_.layers[i].expert_copies;
    }
    const bool ends = layers_.end == whole_.layers.size();
    sends_ = element_ * samples_ *
             (ends ? whole_.layers.back().outputs_per_sample : spec::inputs_of_block(whole_.layers[layers_.end]));

    // Both schedules come from one recording, so their passes have the same tasks in the same order.
    std::vector<const Task*> small;
    for (const Task& task : micro_.tasks) {
      if (pass_of(task) != nullptr) small.push_back(&task);
    }
    std::size_t next = 0;
    of_pass_.resize(full_.tasks.size());
    position_of_.assign(full_.tasks.size(), kNone);
    for (std::size_t i = 0; i < full_.tasks.size(); ++i) {
      const ComputeTask* compute = pass_of(full_.tasks[i]);
      if (compute == nullptr) continue;
      if (next == small.size()) throw std::logic_error("a micro-batch has fewer computations than the batch");
      of_pass_[i] = small[next++];
      if (const auto found = position_of.find(of_pass_[i]->layer); found != position_of.end())
        position_of_[i] = found->second;
      (is_forward(compute->phase) ? forward_end_ : backward_end_) = i + 1;
    }
    backward_end_ = std::max(backward_end_, forward_end_);
    for (std::size_t i = 0; i < forward_end_ && how_.recomputation != Recomputation::none; ++i) {
      const std::size_t position = position_of_[i];
      if (position == kNone) continue;
      const std::string_view block = spec::block_of(whole_.layers[position].name);
      const bool again = spec::is_computed_again(whole_, position, how_);
      if (again) computed_again_[block].push_back(i);
      const spec::LayerShape& own = device_.layers[position];
      const double activated = again ? 0 : spec::activated_again(own, how_);
      if (activated > 0) activated_again_[block] += element_ * samples_ * (own.outputs_per_sample + activated);
    }
    // Issues the collectives of the last layers before any wait.
    while (backward_end_ < full_.tasks.size() && !std::holds_alternative<WaitTask>(full_.tasks[backward_end_].what))
      ++backward_end_;
    now_at_.assign(full_.tasks.size(), -1);
    if (how_.sharding != Sharding::none) shard_gradients();
    assign_matrices(step);
    if (how_.offloads_optimizer()) offload_updates();

    const bool blocks = std::ranges::any_of(
        whole_.layers, [](const spec::LayerShape& layer) { return !spec::block_of(layer.name).empty(); });
    std::map<std::string_view, std::size_t> unit_of;
    for (std::size_t i = layers_.first; i < layers_.end; ++i) {
      const std::string& layer = whole_.layers[i].name;
      const std::string_view block = spec::block_of(layer);
      const std::string_view name = !block.empty() ? block : blocks ? std::string_view("parameters") : layer;
      const auto [unit, fresh] = unit_of.try_emplace(name, units_.size());
      if (fresh) units_.push_back({std::string(name), 0, blocks && block.empty()});
      const spec::LayerShape& own = device_.layers[i];
      DividedUnit& of_layer = units_[unit->second];
      (own.expert_group > 1 ? of_layer.experts : of_layer.bytes) +=
          element_ * static_cast<double>(own.parameters + own.frozen);
      (own.expert_group > 1 ? of_layer.learned_experts : of_layer.learned) +=
          element_ * static_cast<double>(own.parameters);
      unit_of_.push_back(unit->second);
    }
    if (how_.expert_launch == spec::ExpertLaunch::counted) measure_launches();
    if (how_.offloads_activations()) measure_activations();
  }

  spec::Precision precision() const { return full_.precision; }
  /// Returns the bytes sent to the next piece per micro-batch, by all devices of the stage together.
  double sends() const { return sends_; }
  const std::string& last_layer() const { return whole_.layers[layers_.end - 1].name; }
  /// Returns the bytes, on one device, of this piece's embedding table if the last layer of `end` is tied to it;
  /// otherwise 0.
  double tied_table_bytes(const ModelChunk& end) const {
    const spec::LayerShape& decoder = end.whole_.layers[end.layers_.end - 1];
    const spec::LayerShape& table = device_.layers[layers_.first];
    const bool tied =
        decoder.split == TensorSplit::vocabulary && decoder.is_tied() && table.kind == spec::LayerKind::embedding;
    return tied ? element_ * static_cast<double>(table.parameters) : 0;
  }

  /// Adds the tasks of a micro-batch in one direction. `last`: includes tasks that are done once per step.
  void pass(PassKind kind, bool last, Schedule& out, std::int32_t stage) {
    forward_ = kind == PassKind::forward;
    only_weights_ = kind == PassKind::weights;
    only_inputs_ = kind == PassKind::inputs;
    hides_sums_ = how_.tensor > 1 && how_.tensor_overlap != spec::TensorOverlap::none && kind == PassKind::backward;
    sums_groups_ = last || how_.deferred_sums == spec::DeferredSums::none;
    block_ = {};
    at_ = kNone;
    begin_units(forward_);
    const std::size_t begin = forward_ ? 0 : forward_end_;
    const std::size_t end = forward_ ? forward_end_ : backward_end_;
    for (std::size_t i = begin; i < end; ++i) {
      const bool of_pass = of_pass_[i] != nullptr;
      const bool scatters = sharded(Sharding::gradients) && how_.deferred_sums != spec::DeferredSums::all &&
                            std::holds_alternative<CollectiveTask>(full_.tasks[i].what);
      if (!last && !scatters && !of_pass) continue;
      if (kind == PassKind::inputs && (!of_pass || is_weight_gradient(i))) continue;
      if (kind == PassKind::weights && of_pass && !is_weight_gradient(i)) continue;
      if (hides_sums_ && is_beside_sum(i)) {
        held_back_.push_back(i);
      } else {
        add_task(i, out, stage);
      }
    }
    add_held_back(out, stage);
    wait_for(rows_, "rows to experts", out, stage);
    end_launches(out, stage);
    leave_unit(out, stage);
    if (forward_) leave_block(out, stage);
  }
  /// Begins copying the activations of a backward pass's first block back from the host.
  void begin_return(Schedule& out, std::int32_t stage) {
    brought_back_ = units_.size();
    bring_back_before(units_.size(), out, stage);
  }
  /// Adds the all-gather of received data, of which each device of the stage has a part. Adds nothing with sequence
  /// parallelism, where each device keeps its part.
  void gather_received(double bytes, Schedule& out, std::int32_t stage) const {
    if (!how_.sequence_parallel)
      add_tensor(step::CollectiveKind::all_gather, last_layer(), bytes / how_.tensor, out, stage);
  }
  /// Adds the tasks after the last pass.
  void finish(Schedule& out, std::int32_t stage) {
    if (how_.sequence_parallel && how_.tensor > 1) {
      // Sums gradients of undivided layers, because each device has processed only a part of the sequence.
      double bytes = 0;
      for (std::size_t i = layers_.first; i < layers_.end; ++i) {
        if (whole_.layers[i].split == TensorSplit::whole && whole_.layers[i].expert_group == 1)
          bytes += element_ * static_cast<double>(whole_.layers[i].parameters);
      }
      if (bytes > 0) add_tensor(step::CollectiveKind::all_reduce, "other layers", bytes, out, stage);
    }
    bool updates = false;
    for (std::size_t i = backward_end_; i < full_.tasks.size(); ++i) {
      const auto* compute = std::get_if<ComputeTask>(&full_.tasks[i].what);
      if (!updates && compute != nullptr && compute->phase == step::Phase::update) {
        updates = true;
        add_transfer("gradients to the host", out, stage);
      }
      if (!orthogonal_.empty() && i == orthogonal_.front()) exchange_matrices("matrices", out, stage);
      if (const auto found = gathered_matrices_.find(i); found != gathered_matrices_.end())
        add_tensor(step::CollectiveKind::all_gather, full_.tasks[i].layer, found->second, out, stage);
      add_task(i, out, stage);
      if (!orthogonal_.empty() && i == orthogonal_.back()) exchange_matrices("steps of matrices", out, stage);
    }
    if (updates) add_transfer("parameters from the host", out, stage);
    if (!sharded(Sharding::optimizer) || how_.sharding == Sharding::parameters) return;
    double bytes = 0;
    double experts = 0;
    for (const DividedUnit& unit : units_) {
      bytes += unit.learned;
      experts += unit.learned_experts;
    }
    for (const std::int32_t gather : add_gathers("parameters", bytes, experts, out, stage))
      out.tasks.push_back({"parameters", WaitTask{step::Role::workers, gather}, stage});
  }

 private:
  /// Parameters that are gathered together if replicas divide them: a block, or all layers outside of blocks; in a
  /// network without blocks, a layer.
  struct DividedUnit {
    std::string name;
    double bytes = 0;                         ///< bytes of its parameters on one device, without divided experts
    bool kept = false;                        ///< true: kept from the forward pass until the end of the backward pass
    double learned = 0;                       ///< bytes of its parameters that an update changes (not frozen)
    double experts = 0, learned_experts = 0;  ///< bytes of divided experts: all, and those not frozen
    double activations = 0;                   ///< bytes per micro-batch that stay on the host until the backward pass
    double launches = 0;  ///< host seconds to launch its kernels, forward and backward, if the host cannot run ahead of
                          ///< the device
  };

  void check() const {
    if (full_.uses_aggregator)
      throw std::invalid_argument(
          "replicas of several devices or micro-batches need an exchange among peers, not an aggregator");
    for (const Task& task : full_.tasks) {
      const auto* collective = std::get_if<CollectiveTask>(&task.what);
      if (collective == nullptr) continue;
      if (collective->kind == step::CollectiveKind::neighbour_exchange)
        throw std::invalid_argument("replicas of several devices or micro-batches cannot gossip");
      if (how_.sharding != Sharding::none && collective->kind != step::CollectiveKind::all_reduce)
        throw std::invalid_argument("sharding needs a sum of gradients, but this collective is not a sum");
      if (how_.sharding > Sharding::optimizer && !sums_gradients_)
        throw std::invalid_argument("sharding of gradients needs a sum of gradients, but this run sums other data");
    }
  }
  /// Replaces all-reduces by reduce-scatters if a replica needs only its part of the sum, and updates only this part.
  void shard_gradients() {
    double shared = 0;
    double experts = 0;
    for (std::size_t i = layers_.first; i < layers_.end; ++i)
      (whole_.layers[i].expert_group > 1 ? experts : shared) += static_cast<double>(device_.layers[i].parameters);
    const double share = experts > 0 ? (shared / sharers_ + experts / copies_) / (shared + experts) : 1 / sharers_;
    for (Task& task : full_.tasks) {
      if (auto* collective = std::get_if<CollectiveTask>(&task.what)) {
        if (!sums_gradients_) continue;
        collective->kind = step::CollectiveKind::reduce_scatter;
        if (collective->among == Among::replicas && how_.sharding_group > 0) collective->among = Among::shard_group;
        collective->algorithm = reduce_scatter_;
      } else if (auto* compute = std::get_if<ComputeTask>(&task.what);
                 compute != nullptr && compute->phase == step::Phase::update) {
        compute->flops = compute->flops.scaled(share);
        compute->bytes_moved = compute->bytes_moved.scaled(share);
      }
    }
  }
  /// Prepares Newton–Schulz of Muon, which needs whole matrices. Devices that divide a layer gather its matrix, and
  /// each orthogonalises it (Megatron-LM, muon_tp_mode duplicated). Devices that divide states have different whole
  /// matrices (Megatron-LM, layer-wise distributed optimizer; KellerJordan/Muon); each is timed like the one with the
  /// most work. With divided parameters an all-to-all assembles matrices before, and another returns the steps
  /// (microsoft/dion, megabatch_base.py).
  void assign_matrices(const Undivided& step) {
    std::vector<Task> whole;
    if (how_.tensor > 1 && std::ranges::any_of(full_.tasks, orthogonalises))
      whole = step.of_whole(layers_, step.sample_scale).tasks;
    auto next = whole.begin();
    std::vector<WholeMatrix> matrices, of_experts;
    std::map<std::size_t, double> bytes_of;  // bytes of one matrix on a device, per task
    for (std::size_t i = 0; i < full_.tasks.size(); ++i) {
      if (!orthogonalises(full_.tasks[i])) continue;
      if (how_.tensor > 1) {
        next = std::find_if(next, whole.end(), orthogonalises);
        full_.tasks[i].what = (next++)->what;
      }
      const double flops = std::get<ComputeTask>(full_.tasks[i].what).flops[0];
      if (!(flops > 0)) continue;
      const auto at = std::ranges::find(device_.layers, full_.tasks[i].layer, &spec::LayerShape::name);
      const bool divided = at->expert_group > 1;
      const double bytes = element_ * static_cast<double>(at->in * at->out);
      (divided ? expert_matrix_bytes_ : matrix_bytes_) += bytes * static_cast<double>(at->experts);
      if (how_.tensor > 1 && at->split != TensorSplit::whole) bytes_of[i] = bytes;
      auto& list = divided ? of_experts : matrices;
      list.insert(list.end(), static_cast<std::size_t>(at->experts), {i, flops / static_cast<double>(at->experts)});
    }
    const bool divided = sharded(Sharding::optimizer);
    std::map<std::size_t, double> own;  // flops per task
    for (const auto& [all, devices] : {std::pair(&matrices, sharers_), {&of_experts, copies_}}) {
      for (const WholeMatrix& matrix : of_busiest(*all, divided ? static_cast<std::size_t>(devices) : 1)) {
        own[matrix.task] += matrix.flops;
        if (const auto found = bytes_of.find(matrix.task); found != bytes_of.end())
          gathered_matrices_[matrix.task] += found->second;
      }
    }
    for (std::size_t i = 0; i < full_.tasks.size(); ++i) {
      if (!orthogonalises(full_.tasks[i])) continue;
      auto& compute = std::get<ComputeTask>(full_.tasks[i].what);
      const double share = compute.flops[0] > 0 ? own[i] / compute.flops[0] : 0;
      for (PerWorker* values : {&compute.flops, &compute.bytes_moved, &compute.launches})
        *values = values->scaled(share);
      orthogonal_.push_back(i);
    }
  }
  /// Before matrices are orthogonalised, assembles those whose parameters are divided on the devices that orthogonalise
  /// them; afterwards returns the steps. With the optimizer on the host, matrices and steps also travel over the link
  /// to the host.
  void exchange_matrices(const std::string& what, Schedule& out, std::int32_t stage) const {
    if (how_.offloads_optimizer()) {
      const bool divided = sharded(Sharding::optimizer);
      ComputeTask transfer;
      transfer.phase = step::Phase::update;
      transfer.seconds =
          PerWorker((matrix_bytes_ / (divided ? sharers_ : 1) + expert_matrix_bytes_ / (divided ? copies_ : 1)) /
                    how_.offload_rate);
      out.tasks.push_back({what, std::move(transfer), stage});
    }
    if (!sharded(Sharding::parameters)) return;
    add_among(how_.sharding_group > 0 ? Among::shard_group : Among::replicas, step::CollectiveKind::all_to_all, what,
              matrix_bytes_ / (sharers_ * sharers_), out, stage);
    if (copies_ > 1)
      add_among(Among::expert_copies, step::CollectiveKind::all_to_all, what,
                expert_matrix_bytes_ / (copies_ * copies_), out, stage);
  }
  /// Moves updates to the host, whose processor updates the same numbers in its own memory.
  void offload_updates() {
    for (Task& task : full_.tasks) {
      auto* compute = std::get_if<ComputeTask>(&task.what);
      if (compute == nullptr || compute->phase != step::Phase::update) continue;
      // All workers have the same number of parameters.
      compute->seconds = PerWorker(how_.offload_share * compute->bytes_moved[0] / how_.host_rate);
      for (PerWorker* kept : {&compute->flops, &compute->bytes_moved, &compute->launches})
        *kept = kept->scaled(how_.state_kept());
    }
  }
  /// Adds the transfers of gradients to the host before it updates, and of parameters back.
  void add_transfer(const std::string& what, Schedule& out, std::int32_t stage) const {
    if (!how_.offloads_optimizer()) return;
    double bytes = 0;
    for (const DividedUnit& unit : units_) {
      const bool divided = sharded(spec::Sharding::optimizer);
      bytes += unit.learned / (divided ? sharers_ : 1) + unit.learned_experts / (divided ? copies_ : 1);
    }
    ComputeTask transfer;
    transfer.phase = step::Phase::update;
    transfer.seconds = PerWorker(how_.offload_share * bytes / how_.offload_rate);
    out.tasks.push_back({what, std::move(transfer), stage});
  }
  /// Determines the bytes that each block leaves on the host: only the first blocks, and never the network's last
  /// block, whose backward pass comes next.
  void measure_activations() {
    const spec::KeptActivations kept(full_.precision, how_);
    const std::vector<spec::LayerRange> blocks = spec::blocks_of(device_);
    std::size_t end = 0;
    for (const spec::LayerRange& block : blocks) {
      if (spec::repeats(block)) end = block.end;
    }
    const auto may_leave = [&](const spec::LayerRange& block) {
      return spec::repeats(block) && block.end != end && layers_.holds(block.first);
    };
    std::size_t leaving = how_.blocks_on_host(static_cast<std::size_t>(std::ranges::count_if(blocks, may_leave)));
    for (const spec::LayerRange& block : blocks) {
      if (!may_leave(block) || leaving == 0) continue;
      --leaving;
      const auto layers = std::span(device_.layers).subspan(block.first, block.end - block.first);
      units_[unit_of_[block.first - layers_.first]].activations = samples_ * kept.of_block(layers);
    }
  }
  /// Enters a block. In the forward pass, starts copying the previous block's activations to the host. In the backward
  /// pass, waits for this block's activations, and starts copying the next block's back.
  void enter_block(std::size_t unit, Schedule& out, std::int32_t stage) {
    if (unit == at_) return;
    if (forward_) leave_block(out, stage);
    at_ = unit;
    if (forward_) return;
    if (units_[unit].activations > 0) {
      bring_back_before(unit + 1, out, stage);
      add_copy(units_[unit], HostCopy::wait_from_host, out, stage);
    }
    bring_back_before(unit, out, stage);
  }
  /// Copies a block's activations to the host, after the previous block's have arrived. The device thus holds the
  /// activations of at most two blocks.
  void leave_block(Schedule& out, std::int32_t stage) const {
    if (at_ == kNone || units_[at_].activations == 0) return;
    add_copy(units_[at_], HostCopy::wait_to_host, out, stage);
    add_copy(units_[at_], HostCopy::to_host, out, stage);
  }
  /// Starts the copy back for the last unit before `unit` that has activations on the host, unless it has started
  /// already.
  void bring_back_before(std::size_t unit, Schedule& out, std::int32_t stage) {
    while (unit > 0 && units_[unit - 1].activations == 0) --unit;
    if (unit == 0 || unit - 1 >= brought_back_) return;
    brought_back_ = unit - 1;
    add_copy(units_[brought_back_], HostCopy::from_host, out, stage);
  }
  void add_copy(const DividedUnit& unit, HostCopy copy, Schedule& out, std::int32_t stage) const {
    const bool leaves = copy == HostCopy::to_host || copy == HostCopy::wait_to_host;
    ComputeTask task;
    task.phase = leaves ? step::Phase::forward : step::Phase::backpropagate;
    task.kind = spec::LayerKind::element_wise;
    task.copy = copy;
    if (copy == HostCopy::to_host || copy == HostCopy::from_host) {
      task.copied = unit.activations;
      task.seconds = PerWorker(unit.activations / how_.offload_rate);
    }
    out.tasks.push_back(
        {unit.name + (leaves ? "activations to the host" : "activations from the host"), std::move(task), stage});
  }
  bool is_weight_gradient(std::size_t index) const {
    return std::get<ComputeTask>(of_pass_[index]->what).phase == step::Phase::weight_gradient;
  }
  /// Returns whether a task overlaps with a sum among the devices of its layer. Gradients of weights of column-parallel
  /// layers, and tasks that use them, are computed while the gradient of the inputs is summed.
  bool is_beside_sum(std::size_t index) const {
    if (of_pass_[index] == nullptr) return !held_back_.empty();
    if (!is_weight_gradient(index)) return false;
    return position_of_[index] != kNone && is_column(position_of_[index]);
  }
  void add_held_back(Schedule& out, std::int32_t stage) {
    for (const std::size_t index : std::exchange(held_back_, {})) add_task(index, out, stage);
  }
  /// Adds task `index` of the whole batch, or its counterpart for a micro-batch.
  void add_task(std::size_t index, Schedule& out, std::int32_t stage) {
    if (of_pass_[index] != nullptr) {
      add_pass_task(index, out, stage);
      return;
    }
    Task task = full_.tasks[index];
    task.stage = stage;
    if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      if (sharded(Sharding::parameters)) {
        of_unit_.push_back(index);
      } else {
        add_collective(task.layer, *collective, {index}, out, stage);
      }
      return;
    }
    leave_unit(out, stage);
    if (auto* wait = std::get_if<WaitTask>(&task.what))
      wait->collective = now_at_.at(static_cast<std::size_t>(wait->collective));
    out.tasks.push_back(std::move(task));
  }
  void add_pass_task(std::size_t index, Schedule& out, std::int32_t stage) {
    const Task& task = *of_pass_[index];
    const step::Phase phase = std::get<ComputeTask>(task.what).phase;
    const std::size_t position = position_of_[index];
    const bool known = position != kNone;
    const std::string_view block = known ? spec::block_of(whole_.layers[position].name) : std::string_view{};
    if (known) {
      const std::size_t unit = unit_of_[position - layers_.first];
      begin_launches(unit, out, stage);
      if (unit != std::exchange(unit_, unit)) leave_unit(out, stage);
      enter_unit(unit, out, stage);
    }
    if (known && how_.offloads_activations()) enter_block(unit_of_[position - layers_.first], out, stage);
    if (!forward_ && !only_weights_ && block != block_ && !block.empty()) recompute(block, out, stage);
    block_ = block;
    if (known) {
      exchange_keys(whole_.layers[position], phase, true, out, stage);
      exchange_rows(whole_.layers[position], position, phase, true, out, stage);
      add_layer_sums(whole_.layers[position], position, phase, true, out, stage);
    }
    Task own = task;
    own.stage = stage;
    // With sequence parallelism, each device does a part of the work of undivided layers.
    if (how_.sequence_parallel && how_.tensor > 1 && known && whole_.layers[position].split == TensorSplit::whole &&
        whole_.layers[position].expert_group == 1) {
      auto& compute = std::get<ComputeTask>(own.what);
      compute.flops = compute.flops.scaled(1.0 / how_.tensor);
      compute.bytes_moved = compute.bytes_moved.scaled(1.0 / how_.tensor);
    }
    out.tasks.push_back(std::move(own));
    if (!known) return;
    exchange_keys(whole_.layers[position], phase, false, out, stage);
    add_layer_sums(whole_.layers[position], position, phase, false, out, stage);
    exchange_rows(whole_.layers[position], position, phase, false, out, stage);
  }
  /// Adds the collectives among the devices of a stage before or after a computation of a layer. Collectives that
  /// TensorOverlap allows to overlap with the computation begin before it, and are waited for after it.
  void add_layer_sums(const spec::LayerShape& layer, std::size_t position, step::Phase phase, bool before,
                      Schedule& out, std::int32_t stage) {
    if (how_.tensor == 1 || layer.split == spec::TensorSplit::whole || layer.split == spec::TensorSplit::heads) return;
    const bool column = is_column(position);
    // Adjacent column-parallel layers read the same inputs, which are gathered once.
    const bool first = column && !(position > 0 && is_column(position - 1));
    const bool last = column && !is_column(position + 1);
    const bool table = layer.kind == spec::LayerKind::embedding;
    const double inputs = element_ * rows(layer) * static_cast<double>(layer.in);
    const double outputs = element_ * rows(layer) * static_cast<double>(table ? layer.in : layer.out);
    const bool sequence = divides_sequence(layer);
    const bool products = how_.tensor_overlap == spec::TensorOverlap::products && sequence;
    const step::CollectiveKind sum = sequence ? step::CollectiveKind::reduce_scatter : step::CollectiveKind::all_reduce;
    const auto add = [&](step::CollectiveKind kind, double bytes) { add_tensor(kind, layer.name, bytes, out, stage); };
    const auto begin = [&](int which, step::CollectiveKind kind, double bytes) {
      if (bytes > 0) beside_[which].push_back(begin_among(Among::tensor, kind, layer.name, bytes, out, stage));
    };
    const auto end = [&](int which) { wait_for(beside_[which], layer.name, out, stage); };
    constexpr int kComing = 0;
    constexpr int kLeaving = 1;
    if (is_forward(phase)) {
      const bool leaves = !column && products && !table;
      if (before && sequence && first) {
        if (products) {
          begin(kComing, step::CollectiveKind::all_gather, inputs / how_.tensor);
        } else {
          add(step::CollectiveKind::all_gather, inputs / how_.tensor);
        }
      }
      if (!before && last) end(kComing);
      if (before && leaves) begin(kLeaving, sum, outputs);
      if (!before && leaves) end(kLeaving);
      if (!before && !column && !leaves) add(sum, outputs);
      // Cross-entropy of divided scores exchanges their maxima, their sums, and the correct scores.
      if (!before && layer.split == spec::TensorSplit::vocabulary && column) {
        for (int i = 0; i < 3; ++i) add(step::CollectiveKind::all_reduce, 4 * rows(layer));
      }
    } else if (phase == step::Phase::backpropagate) {
      const bool comes = sequence && !column && !table;
      if (before && comes && products && hides_sums_) {
        begin(kComing, step::CollectiveKind::all_gather, outputs / how_.tensor);
      } else if (before && comes) {
        add(step::CollectiveKind::all_gather, outputs / how_.tensor);
      }
      if (!before && comes) end(kComing);
      // Gathers the inputs again for gradients of weights, because only a part of them was kept.
      if (before && last && sequence && hides_sums_)
        begin(kComing, step::CollectiveKind::all_gather, inputs / how_.tensor);
      if (before || !first) return;
      if (!hides_sums_) {
        add(sum, inputs);
        return;
      }
      begin(kLeaving, sum, inputs);
      add_held_back(out, stage);
      end(kLeaving);
    } else if (before && sequence && last && phase == step::Phase::weight_gradient) {
      if (beside_[kComing].empty()) {
        // Gathers the inputs again, as in the backward pass above.
        add(step::CollectiveKind::all_gather, inputs / how_.tensor);
      } else {
        end(kComing);
      }
    }
  }
  /// Adds the exchange of context parallelism: the gather of other devices' keys and values in both passes, and the
  /// reduce-scatter of their gradients in the backward pass. With ring exchange, both begin before attention and are
  /// waited for after it. Otherwise attention waits for the gather, and the reduce-scatter follows attention.
  void exchange_keys(const spec::LayerShape& layer, step::Phase phase, bool before, Schedule& out, std::int32_t stage) {
    const bool backward = phase == step::Phase::backpropagate;
    if (how_.context == 1 || layer.kind != spec::LayerKind::attention || (!is_forward(phase) && !backward)) return;
    const bool beside = how_.context_exchange == spec::ContextExchange::ring;
    const double own = element_ * rows(layer) * static_cast<double>(layer.keys_and_values) / how_.tensor;
    const auto add = [&](step::CollectiveKind kind, double bytes) {
      keys_.push_back(static_cast<std::int32_t>(out.tasks.size()));
      CollectiveTask task;
      task.kind = kind;
      task.among = Among::context;
      task.algorithm = algorithm_of(kind);
      task.bytes = PerWorker({bytes});
      out.tasks.push_back({layer.name, std::move(task), stage});
    };
    if (before) add(step::CollectiveKind::all_gather, own);
    if (backward && before == beside) add(step::CollectiveKind::reduce_scatter, own * how_.context);
    if (before && beside) return;
    for (const std::int32_t at : std::exchange(keys_, {}))
      out.tasks.push_back({layer.name, WaitTask{step::Role::workers, at}, stage});
  }
  /// Adds the exchange of rows: rows are sent to the devices of their experts, and the results return. The backward
  /// pass exchanges Δ likewise. Each device of a layer sends its part of the rows.
  void exchange_rows(const spec::LayerShape& layer, std::size_t position, step::Phase phase, bool before, Schedule& out,
                     std::int32_t stage) {
    if (!has_divided_experts(position) || (!is_forward(phase) && phase != step::Phase::backpropagate)) return;
    const bool first = !(position > 0 && has_divided_experts(position - 1));
    const bool last = !has_divided_experts(position + 1);
    const bool sends = before && (is_forward(phase) ? first : last);
    const bool returns = !before && (is_forward(phase) ? last : first);
    // Tables read indices from the input, which is small, and have no gradient of the input.
    const double pooled = spec::pooled_per_sample(layer);
    if ((!sends && !returns) || (pooled > 0 && sends == is_forward(phase))) return;
    if (pooled > 0) {
      add_among(Among::experts, step::CollectiveKind::all_to_all, layer.name,
                element_ * samples_ * pooled / layer.expert_group, out, stage);
      return;
    }
    const auto width = static_cast<double>(first && (is_forward(phase) ? sends : returns) ? layer.in : layer.out);
    constexpr double kScaled = 1 + 4.0 / 128;  // bytes per number: fp8, and a scale per 128 numbers
    const double element = sends && how_.expert_dispatch == spec::ExpertDispatch::fp8 ? kScaled : element_;
    const double bytes = element * rows(layer) * width / (layer.expert_group * how_.expert_tensor);
    wait_for(rows_, layer.name, out, stage);
    if (!(bytes > 0)) return;
    rows_.push_back(begin_among(Among::experts, step::CollectiveKind::all_to_all, layer.name, bytes, out, stage));
    if (how_.expert_exchange == spec::ExpertExchange::once)
      std::get<CollectiveTask>(out.tasks.back().what).row_experts = layer.experts_per_token;
    // With two micro-batches in alternation, the exchange of one overlaps with the computation of the other.
    if (!how_.expert_overlap) wait_for(rows_, layer.name, out, stage);
  }
  /// Adds a recomputation of the forward pass of a block, or of a part of it.
  void recompute(std::string_view block, Schedule& out, std::int32_t stage) {
    if (how_.recomputation == Recomputation::none) return;
    block_ = block;
    if (const auto found = computed_again_.find(block); found != computed_again_.end()) {
      for (const std::size_t index : found->second) add_pass_task(index, out, stage);
    }
    if (const auto found = activated_again_.find(block); found != activated_again_.end()) {
      ComputeTask task;
      task.kind = spec::LayerKind::element_wise;
      task.bytes_moved = PerWorker(found->second);
      task.launches = PerWorker(1.0);
      out.tasks.push_back({std::string(block) + "activation", std::move(task), stage});
    }
  }
  void add_among(Among among, step::CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                 std::int32_t stage) const {
    if (!(bytes > 0)) return;
    const std::int32_t at = begin_among(among, kind, layer, bytes, out, stage);
    out.tasks.push_back({layer, WaitTask{step::Role::workers, at}, stage});
  }
  /// Adds a collective that overlaps with later tasks until it is waited for. Returns its task.
  std::int32_t begin_among(Among among, step::CollectiveKind kind, const std::string& layer, double bytes,
                           Schedule& out, std::int32_t stage) const {
    CollectiveTask task;
    task.kind = kind;
    task.among = among;
    task.algorithm = algorithm_of(kind);
    task.bytes = PerWorker({bytes});
    out.tasks.push_back({layer, std::move(task), stage});
    return static_cast<std::int32_t>(out.tasks.size()) - 1;
  }
  static void wait_for(std::vector<std::int32_t>& begun, const std::string& layer, Schedule& out, std::int32_t stage) {
    for (const std::int32_t at : std::exchange(begun, {}))
      out.tasks.push_back({layer, WaitTask{step::Role::workers, at}, stage});
  }
  /// Adds a collective among the devices of a layer, and waits for it.
  void add_tensor(step::CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                  std::int32_t stage) const {
    if (how_.tensor > 1) add_among(Among::tensor, kind, layer, bytes, out, stage);
  }
  std::int32_t add_gather(Among among, const std::string& layer, double bytes, Schedule& out,
                          std::int32_t stage) const {
    CollectiveTask task;
    task.kind = step::CollectiveKind::all_gather;
    task.among = among;
    task.algorithm = algorithm_of(task.kind);
    task.bytes = PerWorker({bytes});
    out.tasks.push_back({layer, std::move(task), stage});
    return static_cast<std::int32_t>(out.tasks.size()) - 1;
  }
  /// Adds gathers of `bytes` of parameters, and of experts that other devices hold too. Returns their tasks.
  std::vector<std::int32_t> add_gathers(const std::string& layer, double bytes, double experts, Schedule& out,
                                        std::int32_t stage) const {
    std::vector<std::int32_t> gathers;
    if (bytes > 0)
      gathers.push_back(add_gather(how_.sharding_group > 0 ? Among::shard_group : Among::replicas, layer,
                                   bytes / sharers_, out, stage));
    if (experts > 0 && copies_ > 1)
      gathers.push_back(add_gather(Among::expert_copies, layer, experts / copies_, out, stage));
    return gathers;
  }
  /// Returns the run's algorithm for a collective.
  const std::string& algorithm_of(step::CollectiveKind kind) const {
    static const std::string kLibrary = "auto";
    switch (kind) {
      case step::CollectiveKind::all_reduce:
        return all_reduce_;
      case step::CollectiveKind::all_gather:
        return all_gather_;
      case step::CollectiveKind::reduce_scatter:
        return reduce_scatter_;
      default:
        return kLibrary;
    }
  }
  /// Adds a collective that replaces some collectives of `full_`.
  void add_collective(const std::string& layer, CollectiveTask collective, const std::vector<std::size_t>& stands_for,
                      Schedule& out, std::int32_t stage) {
    CollectiveTask sum;
    const bool sums_parts = collective.among == Among::shard_group && groups_ > 1 && sums_groups_;
    if (sums_parts) {
      sum.kind = step::CollectiveKind::all_reduce;
      sum.among = Among::shard_copies;
      sum.algorithm = all_reduce_;
      sum.bytes = collective.bytes.scaled(1 / sharers_);
    }
    out.tasks.push_back({layer, std::move(collective), stage});
    if (sums_parts) out.tasks.push_back({layer, std::move(sum), stage});  // follows the scatter, on the same line
    for (const std::size_t index : stands_for) now_at_[index] = static_cast<std::int32_t>(out.tasks.size()) - 1;
  }
  void measure_launches() {
    for (std::size_t i = layers_.first; i < layers_.end; ++i) {
      const spec::LayerShape& own = device_.layers[i];
      if (own.expert_group > 1) units_[unit_of_[i - layers_.first]].launches = spec::seconds_of_launches(own.experts);
    }
  }
  /// Begins the host's launches of a unit. The unit takes as long as the device or the host, whichever is slower. The
  /// forward pass, gradients of inputs and gradients of weights each have a third of the launches; a recomputed block
  /// repeats its forward pass.
  void begin_launches(std::size_t unit, Schedule& out, std::int32_t stage) {
    if (unit == launched_) return;
    end_launches(out, stage);
    if (units_[unit].launches == 0) return;
    double passes = forward_ || only_weights_ || only_inputs_ ? 1 : 2;
    if (!forward_ && !only_weights_ &&
        (how_.recomputation == spec::Recomputation::full || how_.repeats_part(spec::BlockPart::experts)))
      passes += 1;
    launched_ = unit;
    ComputeTask task;
    task.phase = forward_ ? step::Phase::forward : step::Phase::backpropagate;
    task.kind = spec::LayerKind::element_wise;
    task.copy = HostCopy::launch;
    task.seconds = PerWorker(units_[unit].launches * passes / 3);
    out.tasks.push_back({units_[unit].name + "launches", std::move(task), stage});
  }
  void end_launches(Schedule& out, std::int32_t stage) {
    if (std::exchange(launched_, kNone) == kNone) return;
    ComputeTask task;
    task.phase = forward_ ? step::Phase::forward : step::Phase::backpropagate;
    task.kind = spec::LayerKind::element_wise;
    task.copy = HostCopy::wait_launch;
    out.tasks.push_back({"launches", std::move(task), stage});
  }
  /// Orders the units for a pass. The layers outside of blocks come first in the forward pass, and are kept until the
  /// end of the backward pass, which therefore does not gather them again.
  void begin_units(bool forward) {
    order_.clear();
    gathered_ = 0;
    if (!sharded(Sharding::parameters) || only_weights_) return;
    gathers_.assign(units_.size(), {});
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const std::size_t unit = forward ? i : units_.size() - 1 - i;
      if (!units_[unit].kept) order_.push_back(unit);
    }
    for (std::size_t i = 0; forward && i < units_.size(); ++i) {
      if (units_[i].kept) order_.insert(order_.begin(), i);
    }
  }
  /// Scatters the gradients of a unit's parameters, once the backward pass has completed them (FSDP: Zhao et al.,
  /// arXiv:2304.11277, section 3.2.1).
  void leave_unit(Schedule& out, std::int32_t stage) {
    std::vector<std::size_t> left = std::exchange(of_unit_, {});
    while (!left.empty()) {
      const Task& first = full_.tasks[left.front()];
      CollectiveTask all = std::get<CollectiveTask>(first.what);
      std::vector<std::size_t> together{left.front()};
      for (std::size_t i = 1; i < left.size(); ++i) {
        const auto& other = std::get<CollectiveTask>(full_.tasks[left[i]].what);
        if (other.among != all.among) continue;
        all.bytes = all.bytes.plus(other.bytes);
        together.push_back(left[i]);
      }
      std::erase_if(left, [&](std::size_t index) { return std::ranges::find(together, index) != together.end(); });
      add_collective(first.layer, std::move(all), together, out, stage);
    }
  }
  /// Waits for the parameters of a unit, after starting the gathers of the next ones.
  void enter_unit(std::size_t unit, Schedule& out, std::int32_t stage) {
    const auto turn = std::ranges::find(order_, unit);
    if (turn == order_.end()) return;
    const auto ahead = static_cast<std::size_t>(turn - order_.begin()) + 1 + static_cast<std::size_t>(how_.prefetch);
    for (; gathered_ < std::min(ahead, order_.size()); ++gathered_) {
      const DividedUnit& next = units_[order_[gathered_]];
      gathers_[order_[gathered_]] = add_gathers(next.name, next.bytes, next.experts, out, stage);
    }
    for (const std::int32_t gather : std::exchange(gathers_[unit], {}))
      out.tasks.push_back({units_[unit].name, WaitTask{step::Role::workers, gather}, stage});
  }
  double rows(const spec::LayerShape& layer) const { return samples_ * static_cast<double>(layer.rows_per_sample); }
  /// Returns whether a layer is column-parallel: whole inputs, divided outputs.
  bool is_column(std::size_t position) const {
    if (!layers_.holds(position)) return false;
    const spec::LayerShape& layer = whole_.layers[position];
    return layer.split == spec::TensorSplit::column ||
           (layer.split == spec::TensorSplit::vocabulary && layer.kind != spec::LayerKind::embedding);
  }
  /// Returns whether the inputs and outputs of a layer are divided by rows among its devices. This always holds with
  /// divided experts: each device receives rows for all of them.
  bool divides_sequence(const spec::LayerShape& layer) const {
    return how_.sequence_parallel || layer.expert_group > 1;
  }
  bool has_divided_experts(std::size_t position) const {
    return layers_.holds(position) && whole_.layers[position].expert_group > 1;
  }
  bool sharded(spec::Sharding least) const { return how_.sharding >= least && sharers_ > 1; }

  const spec::ModelShape& whole_;
  const spec::ModelShape& device_;
  spec::ParallelismSpec how_;
  double sharers_;     ///< devices that divide states, gradients or parameters among themselves
  double groups_ = 1;  ///< number of groups of `sharers_` devices; all groups hold the same parts
  double copies_ = 1;  ///< number of devices with the same experts, if devices divide experts
  spec::LayerRange layers_;
  std::string all_reduce_, all_gather_, reduce_scatter_;
  bool sums_gradients_ = true;
  double samples_ = 0;  ///< samples per micro-batch
  double element_ = 4;  ///< bytes per number
  double sends_ = 0;
  Schedule full_;                     ///< tasks for the whole batch
  std::vector<const Task*> of_pass_;  ///< counterpart for a micro-batch of each task of full_; null outside of passes
  Schedule micro_;
  std::size_t forward_end_ = 0, backward_end_ = 0;  ///< index in full_ of the end of each pass
  std::vector<std::size_t> orthogonal_;             ///< indices in full_ of tasks that orthogonalise
  std::map<std::size_t, double>
      gathered_matrices_;  ///< bytes that a device of a divided layer sends, per task that orthogonalises
  double matrix_bytes_ = 0, expert_matrix_bytes_ = 0;  ///< bytes of all matrices to orthogonalise on one device
  std::vector<std::size_t> position_of_;  ///< layer of each task of full_, if it belongs to a pass; otherwise kNone
  std::map<std::string_view, std::vector<std::size_t>> computed_again_;  ///< tasks of full_ to recompute, per block
  std::map<std::string_view, double> activated_again_;                   ///< bytes of recomputed activations of a
                                                                         ///< micro-batch, per block
  std::vector<std::int32_t> now_at_;  ///< task in the result of each collective of full_
  std::vector<DividedUnit> units_;    ///< in the order of the forward pass
  std::vector<std::size_t> unit_of_;  ///< unit of each layer
  // State of the current pass:
  bool forward_ = true;
  bool only_inputs_ = false;             ///< true: computes gradients of inputs only; gradients of weights follow later
  bool only_weights_ = false;            ///< true: computes gradients of weights only; gradients of inputs exist
                                         ///< already
  bool sums_groups_ = true;              ///< true: groups with the same parts also sum their scattered gradients
  bool hides_sums_ = false;              ///< true: sums among the devices of a layer overlap with gradients of weights
  std::vector<std::size_t> held_back_;   ///< tasks of full_ that overlap with a sum among the devices of a layer
  std::vector<std::int32_t> beside_[2];  ///< overlapping collectives among devices of a layer that are not waited for
                                         ///< yet: of incoming data, of outgoing data
  std::vector<std::int32_t> rows_;       ///< exchange of rows with experts under way, which must be waited for
  std::vector<std::int32_t> keys_;       ///< collectives that overlap with attention, and are waited for after it
  std::string_view block_;               ///< current block
  std::vector<std::size_t> order_;       ///< units in the order of the pass
  std::size_t unit_ = 0;                 ///< current unit
  std::vector<std::size_t> of_unit_;     ///< collectives of full_ for the unit's gradients, not issued yet
  std::vector<std::vector<std::int32_t>> gathers_;  ///< tasks of each unit's gathers that have not been waited for
  std::size_t gathered_ = 0;                        ///< number of units of order_ gathered so far
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t at_ = kNone;        ///< current unit, if activations go to the host
  std::size_t brought_back_ = 0;  ///< unit whose activations were last requested from the host
  std::size_t launched_ = kNone;  ///< unit whose kernels the host is launching
};

/// Merges the tasks of all stages into one list, in which each task follows the tasks that it waits for.
class Division {
 public:
  Division(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas)
      : how_(how),
        micro_batches_(how.micro_batch == 0 ? 1 : std::max<std::int64_t>(1, step.batch / how.micro_batch)),
        last_(how.pipeline * how.interleave - 1) {
    if (how.expert_overlap && micro_batches_ < 2)
      throw std::invalid_argument("expert-overlap needs a second micro-batch; use a smaller micro-batch");
    const std::int64_t all = micro_batches_;
    if (step.micro_batches > 0) micro_batches_ = std::min(all, step.micro_batches);
    for (const spec::LayerRange& layers : spec::pieces_of(step.whole, static_cast<std::size_t>(last_) + 1))
      pieces_.emplace_back(step, how, replicas, all, layers);
    sent_[0].assign(pieces_.size() * static_cast<std::size_t>(micro_batches_), kNotYet);
    sent_[1] = sent_[0];
    result_ = Schedule{replicas * static_cast<std::size_t>(how.devices()),
                       false,
                       {},
                       pieces_[0].precision(),
                       how.tensor,
                       how.pipeline,
                       how.context,
                       how.sharding_group,
                       how.experts,
                       how.expert_tensor};
  }

  Schedule run() {
    const auto orders = pipeline_order(how_.order, how_.pipeline, how_.interleave, micro_batches_);
    std::vector<std::size_t> next(orders.size(), 0);
    std::size_t left = 0;
    for (const std::vector<PipelinePass>& order : orders) left += order.size();
    const std::size_t passes = left;
    while (left > 0) {
      const std::size_t before = left;
      for (std::size_t stage = 0; stage < orders.size(); ++stage) {
        if (next[stage] == orders[stage].size() || !is_ready(orders[stage][next[stage]])) continue;
        carry_out(orders[stage][next[stage]++], static_cast<std::int32_t>(stage));
        --left;
      }
      if (left == before) throw std::logic_error("deadlock: pipeline stages wait for each other");
      // Growing by doubling would copy a large step several times. The length is estimated after the first quarter of
      // the passes.
      if (4 * (passes - before) < passes && 4 * (passes - left) >= passes && left > 0)
        result_.tasks.reserve(result_.tasks.size() * passes / (passes - left) * 9 / 8);
    }
    share_tied_tables();
    for (std::int32_t c = last_; c >= 0; --c) {
      pieces_[static_cast<std::size_t>(c)].finish(result_, stage_of(c));
    }
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t kNotYet = -1;  ///< the pass has not been added yet
  static constexpr std::int32_t kHere = -2;    ///< the pass was added, and the next piece is on the same stage

  std::int32_t stage_of(std::int32_t piece) const { return how_.stage_of(piece); }

  /// Returns the task in which a piece sent a micro-batch in a direction; kNotYet or kHere: there is none.
  std::int32_t& sent(bool forward, std::int32_t piece, std::int64_t micro_batch) {
    return sent_[forward ? 0 : 1][static_cast<std::size_t>(piece * micro_batches_ + micro_batch)];
  }

  bool is_ready(const PipelinePass& pass) {
    // Follows the gradient of the inputs on the same stage, so nothing is sent.
    if (pass.kind == PassKind::weights) return true;
    const std::int32_t from = pass.piece + (pass.forward() ? -1 : 1);
    if (from >= 0 && from <= last_) return sent(pass.forward(), from, pass.micro_batch) != kNotYet;
    return pass.forward() || sent(true, last_, pass.micro_batch) != kNotYet;
  }

  void carry_out(const PipelinePass& pass, std::int32_t stage) {
    ModelChunk& piece = pieces_[static_cast<std::size_t>(pass.piece)];
    const bool last = pass.micro_batch == micro_batches_ - 1;
    if (pass.kind == PassKind::weights) {
      piece.pass(pass.kind, last, result_, stage);
      return;
    }
    const bool forward = pass.forward();
    const std::int32_t from = pass.piece + (forward ? -1 : 1);
    if (!forward) piece.begin_return(result_, stage);
    if (from >= 0 && from <= last_) {
      const std::int32_t message = sent(forward, from, pass.micro_batch);
      if (message >= 0) {
        result_.tasks.push_back(
            {result_.tasks[static_cast<std::size_t>(message)].layer, WaitTask{step::Role::workers, message}, stage});
        piece.gather_received(forward ? pieces_[static_cast<std::size_t>(from)].sends() : piece.sends(), result_,
                              stage);
      }
    }
    piece.pass(pass.kind, last, result_, stage);
    const std::int32_t to = pass.piece + (forward ? 1 : -1);
    std::int32_t message = kHere;
    if (to >= 0 && to <= last_ && stage_of(to) != stage) {
      CollectiveTask send;
      send.kind = step::CollectiveKind::stage_send;
      send.among = Among::stages;
      send.to_stage = stage_of(to);
      send.algorithm = "direct";
      // The Δ sent back is as large as the inputs.
      const ModelChunk& sized = forward ? piece : pieces_[static_cast<std::size_t>(to)];
      send.bytes = PerWorker({sized.sends() / how_.tensor});
      message = static_cast<std::int32_t>(result_.tasks.size());
      result_.tasks.push_back({sized.last_layer(), std::move(send), stage});
    }
    sent(forward, pass.piece, pass.micro_batch) = message;
  }

  /// Sums the gradient of a tied table between the first stage, which reads it, and the last stage, which computes
  /// scores with it. Both hold a copy.
  void share_tied_tables() {
    const double bytes = pieces_.front().tied_table_bytes(pieces_.back());
    const std::int32_t ends[] = {0, stage_of(last_)};
    if (!(bytes > 0) || ends[0] == ends[1]) return;
    const auto first = static_cast<std::int32_t>(result_.tasks.size());
    for (const std::int32_t stage : ends) {
      CollectiveTask send;
      send.kind = step::CollectiveKind::stage_send;
      send.among = Among::stages;
      send.to_stage = ends[0] + ends[1] - stage;
      send.algorithm = "direct";
      send.bytes = PerWorker({bytes});
      result_.tasks.push_back({"tied table", std::move(send), stage});
    }
    for (const std::int32_t stage : ends) {
      result_.tasks.push_back({"tied table", WaitTask{step::Role::workers, first + (stage == 0 ? 1 : 0)}, stage});
    }
  }

  spec::ParallelismSpec how_;
  std::int64_t micro_batches_;
  std::int32_t last_;  ///< last piece
  std::vector<ModelChunk> pieces_;
  std::vector<std::int32_t> sent_[2];  ///< sending tasks forward and backward, per piece and micro-batch
  Schedule result_;
};

}  // namespace

Schedule divide(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas) {
  return Division(step, how, replicas).run();
}

}  // namespace dadsim::schedule
