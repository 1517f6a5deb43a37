#include "step/piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "spec/stages.hpp"

namespace dadsim::step {
namespace {

using spec::Recomputation;
using spec::Sharding;
using spec::TensorSplit;

bool is_forward(Phase phase) { return phase == Phase::forward || phase == Phase::loss; }

const ComputeTask* pass_of(const Task& task) {
  const auto* compute = std::get_if<ComputeTask>(&task.what);
  return compute != nullptr && compute->of_pass ? compute : nullptr;
}

}  // namespace

Piece::Piece(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas, std::int64_t micro_batches,
             spec::LayerRange layers)
    : whole_(step.whole),
      device_(step.device),
      how_(how),
      replicas_(static_cast<double>(replicas)),
      layers_(layers),
      all_reduce_(step.all_reduce),
      all_gather_(step.all_gather),
      reduce_scatter_(step.reduce_scatter),
      samples_(static_cast<double>(step.batch) / static_cast<double>(micro_batches)),
      full_(step.step(layers, step.sample_scale)),
      micro_(step.step(layers, step.sample_scale / static_cast<double>(micro_batches))) {
  element_ = bytes_per_element(full_.precision);
  check();
  for (std::size_t i = layers_.first; i < layers_.end; ++i) position_of_[whole_.layers[i].name] = i;
  sends_ = element_ * samples_ * whole_.layers[layers_.end - 1].outputs_per_sample;

  // Both were made of one recording: their passes have the same tasks, one behind the other.
  std::vector<const Task*> small;
  for (const Task& task : micro_.tasks) {
    if (pass_of(task) != nullptr) small.push_back(&task);
  }
  std::size_t next = 0;
  of_pass_.resize(full_.tasks.size());
  for (std::size_t i = 0; i < full_.tasks.size(); ++i) {
    const ComputeTask* compute = pass_of(full_.tasks[i]);
    if (compute == nullptr) continue;
    if (next == small.size()) throw std::logic_error("a micro-batch with fewer computations than the batch");
    of_pass_[i] = small[next++];
    (is_forward(compute->phase) ? forward_end_ : backward_end_) = i + 1;
  }
  backward_end_ = std::max(backward_end_, forward_end_);
  // What the last layers send is on its way before anything waits.
  while (backward_end_ < full_.tasks.size() && !std::holds_alternative<WaitTask>(full_.tasks[backward_end_].what))
    ++backward_end_;
  now_at_.assign(full_.tasks.size(), -1);
  if (how_.sharding != Sharding::none) shard_gradients();

  const bool blocks = std::ranges::any_of(
      whole_.layers, [](const spec::LayerShape& layer) { return !spec::block_of(layer.name).empty(); });
  std::map<std::string_view, std::size_t> unit_of;
  for (std::size_t i = layers_.first; i < layers_.end; ++i) {
    const std::string& layer = whole_.layers[i].name;
    const std::string_view block = spec::block_of(layer);
    const std::string_view name = !block.empty() ? block : blocks ? std::string_view("parameters") : layer;
    const auto [unit, fresh] = unit_of.try_emplace(name, units_.size());
    if (fresh) units_.push_back({std::string(name), 0, blocks && block.empty()});
    units_[unit->second].bytes += element_ * static_cast<double>(device_.layers[i].parameters);
    unit_of_.push_back(unit->second);
  }
}

void Piece::check() const {
  if (full_.uses_aggregator) {
    throw std::invalid_argument(
        "replicas of several devices or micro-batches share with each other, not through an "
        "aggregator");
  }
  for (const Task& task : full_.tasks) {
    const auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (collective->kind == CollectiveKind::neighbour_exchange) {
      throw std::invalid_argument("replicas of several devices or micro-batches cannot gossip");
    }
    if (how_.sharding != Sharding::none && collective->kind != CollectiveKind::all_reduce) {
      throw std::invalid_argument("sharding takes the place of summing gradients, and this is no sum");
    }
  }
}

bool Piece::sharded(Sharding least) const { return how_.sharding >= least && replicas_ > 1; }

/// Every replica gets its part of the sum alone, and updates that.
void Piece::shard_gradients() {
  for (Task& task : full_.tasks) {
    if (auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      collective->kind = CollectiveKind::reduce_scatter;
      collective->algorithm = reduce_scatter_;
    } else if (auto* compute = std::get_if<ComputeTask>(&task.what);
               compute != nullptr && compute->phase == Phase::update) {
      compute->flops = compute->flops.scaled(1 / replicas_);
      compute->bytes_moved = compute->bytes_moved.scaled(1 / replicas_);
    }
  }
}

double Piece::tied_table_bytes(const Piece& end) const {
  const spec::LayerShape& decoder = end.whole_.layers[end.layers_.end - 1];
  const spec::LayerShape& table = device_.layers[layers_.first];
  const bool tied = decoder.split == TensorSplit::vocabulary && decoder.parameters < decoder.in * decoder.out &&
                    table.kind == spec::LayerKind::embedding;
  return tied ? element_ * static_cast<double>(table.in * table.out) : 0;
}

// ---- passes ----

void Piece::pass(bool forward, bool last, Schedule& out, std::int32_t stage) {
  forward_ = forward;
  block_ = {};
  begin_units(forward);
  const std::size_t begin = forward ? 0 : forward_end_;
  const std::size_t end = forward ? forward_end_ : backward_end_;
  for (std::size_t i = begin; i < end; ++i) {
    const bool scatters = sharded(Sharding::gradients) && std::holds_alternative<CollectiveTask>(full_.tasks[i].what);
    if (last || scatters || of_pass_[i] != nullptr) add_task(i, out, stage);
  }
}

void Piece::finish(Schedule& out, std::int32_t stage) {
  if (how_.sequence_parallel && how_.tensor > 1) {
    // Layers that every device has saw a part of the sequence only.
    double bytes = 0;
    for (std::size_t i = layers_.first; i < layers_.end; ++i) {
      if (whole_.layers[i].split == TensorSplit::whole)
        bytes += element_ * static_cast<double>(whole_.layers[i].parameters);
    }
    if (bytes > 0) add_tensor(CollectiveKind::all_reduce, "other layers", bytes, out, stage);
  }
  for (std::size_t i = backward_end_; i < full_.tasks.size(); ++i) add_task(i, out, stage);
  if (!sharded(Sharding::optimizer) || how_.sharding == Sharding::parameters) return;
  double bytes = 0;
  for (const Unit& unit : units_) bytes += unit.bytes;
  const std::int32_t gather = add_replicas(CollectiveKind::all_gather, "parameters", bytes / replicas_, out, stage);
  out.tasks.push_back({"parameters", WaitTask{Role::workers, gather}, stage});
}

/// Task `index` of the whole batch, or what it is with a micro-batch.
void Piece::add_task(std::size_t index, Schedule& out, std::int32_t stage) {
  if (of_pass_[index] != nullptr) {
    add_pass_task(*of_pass_[index], out, stage);
    return;
  }
  Task task = full_.tasks[index];
  task.stage = stage;
  if (auto* wait = std::get_if<WaitTask>(&task.what)) {
    wait->collective = now_at_.at(static_cast<std::size_t>(wait->collective));
  } else if (std::holds_alternative<CollectiveTask>(task.what)) {
    now_at_[index] = static_cast<std::int32_t>(out.tasks.size());
  }
  out.tasks.push_back(std::move(task));
}

void Piece::add_pass_task(const Task& task, Schedule& out, std::int32_t stage) {
  const Phase phase = std::get<ComputeTask>(task.what).phase;
  const auto found = position_of_.find(task.layer);
  const bool known = found != position_of_.end();
  const std::string_view block = known ? spec::block_of(found->first) : std::string_view{};
  if (known) enter_unit(unit_of_[found->second - layers_.first], out, stage);
  if (!forward_ && block != block_ && !block.empty()) recompute(block, out, stage);
  block_ = block;
  if (known) add_layer_sums(whole_.layers[found->second], found->second, phase, true, out, stage);
  Task own = task;
  own.stage = stage;
  // Along the sequence each device has a part of what no other division concerns.
  if (how_.sequence_parallel && how_.tensor > 1 && known && whole_.layers[found->second].split == TensorSplit::whole) {
    auto& compute = std::get<ComputeTask>(own.what);
    compute.flops = compute.flops.scaled(1.0 / how_.tensor);
    compute.bytes_moved = compute.bytes_moved.scaled(1.0 / how_.tensor);
  }
  out.tasks.push_back(std::move(own));
  if (known) add_layer_sums(whole_.layers[found->second], found->second, phase, false, out, stage);
}

/// The forward pass of a block, or of its attention, once more.
void Piece::recompute(std::string_view block, Schedule& out, std::int32_t stage) {
  if (how_.recomputation == Recomputation::none) return;
  block_ = block;
  for (std::size_t i = 0; i < forward_end_; ++i) {
    if (of_pass_[i] == nullptr) continue;
    const auto found = position_of_.find(of_pass_[i]->layer);
    if (found == position_of_.end() || spec::block_of(found->first) != block) continue;
    const bool attention = whole_.layers[found->second].kind == spec::LayerKind::attention;
    if (how_.recomputation == Recomputation::full || attention) add_pass_task(*of_pass_[i], out, stage);
  }
}

// ---- devices that divide layers ----

double Piece::rows(const spec::LayerShape& layer) const {
  return samples_ * static_cast<double>(layer.rows_per_sample);
}

/// Its inputs are whole, its outputs are divided.
bool Piece::is_column(std::size_t position) const {
  if (!layers_.holds(position)) return false;
  const spec::LayerShape& layer = whole_.layers[position];
  return layer.split == TensorSplit::column ||
         (layer.split == TensorSplit::vocabulary && layer.kind != spec::LayerKind::embedding);
}

/// What the devices of a stage tell one another before or behind a computation of a layer.
void Piece::add_layer_sums(const spec::LayerShape& layer, std::size_t position, Phase phase, bool before, Schedule& out,
                           std::int32_t stage) const {
  if (how_.tensor == 1 || layer.split == TensorSplit::whole || layer.split == TensorSplit::heads) return;
  const bool column = is_column(position);
  // Column layers side by side read the same inputs.
  const bool first = column && !(position > 0 && is_column(position - 1));
  const bool last = column && !is_column(position + 1);
  const bool table = layer.kind == spec::LayerKind::embedding;
  const double inputs = element_ * rows(layer) * static_cast<double>(layer.in);
  const double outputs = element_ * rows(layer) * static_cast<double>(table ? layer.in : layer.out);
  const auto add = [&](CollectiveKind kind, double bytes) { add_tensor(kind, layer.name, bytes, out, stage); };
  const bool sequence = how_.sequence_parallel;
  const CollectiveKind sum = sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (is_forward(phase)) {
    if (before && sequence && first) add(CollectiveKind::all_gather, inputs / how_.tensor);
    if (!before && !column) add(sum, outputs);
    // Cross-entropy of divided scores: their maxima, their sums, and the scores that are right.
    if (!before && layer.split == TensorSplit::vocabulary && column) {
      for (int i = 0; i < 3; ++i) add(CollectiveKind::all_reduce, 4 * rows(layer));
    }
  } else if (phase == Phase::backpropagate) {
    if (before && sequence && !column && !table) add(CollectiveKind::all_gather, outputs / how_.tensor);
    if (!before && first) add(sum, inputs);
  } else if (before && sequence && last && phase == Phase::weight_gradient) {
    add(CollectiveKind::all_gather, inputs / how_.tensor);  // the inputs were not kept whole
  }
}

/// The devices of a stage go on when it is done.
void Piece::add_tensor(CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                       std::int32_t stage) const {
  if (how_.tensor == 1 || !(bytes > 0)) return;
  CollectiveTask task;
  task.kind = kind;
  task.among = Among::tensor;
  task.algorithm = algorithm_of(kind);
  task.bytes = PerWorker({bytes});
  const auto at = static_cast<std::int32_t>(out.tasks.size());
  out.tasks.push_back({layer, std::move(task), stage});
  out.tasks.push_back({layer, WaitTask{Role::workers, at}, stage});
}

void Piece::gather_received(double bytes, Schedule& out, std::int32_t stage) const {
  if (!how_.sequence_parallel) add_tensor(CollectiveKind::all_gather, last_layer(), bytes / how_.tensor, out, stage);
}

/// As the run has it.
const std::string& Piece::algorithm_of(CollectiveKind kind) const {
  static const std::string kLibrary = "auto";
  switch (kind) {
    case CollectiveKind::all_reduce:
      return all_reduce_;
    case CollectiveKind::all_gather:
      return all_gather_;
    case CollectiveKind::reduce_scatter:
      return reduce_scatter_;
    default:
      return kLibrary;
  }
}

// ---- replicas that divide parameters ----

std::int32_t Piece::add_replicas(CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                                 std::int32_t stage) const {
  CollectiveTask task;
  task.kind = kind;
  task.algorithm = algorithm_of(kind);
  task.bytes = PerWorker({bytes});
  out.tasks.push_back({layer, std::move(task), stage});
  return static_cast<std::int32_t>(out.tasks.size()) - 1;
}

/// Units in the order of a pass. What stands outside of blocks comes first, and is kept until the pass back is done.
void Piece::begin_units(bool forward) {
  order_.clear();
  gathered_ = 0;
  if (!sharded(Sharding::parameters)) return;
  gathers_.assign(units_.size(), -1);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].kept) order_.push_back(forward ? i : units_.size() - 1 - i);
  }
  if (!forward) std::erase_if(order_, [&](std::size_t unit) { return units_[unit].kept; });
  for (std::size_t i = 0; forward && i < units_.size(); ++i) {
    if (units_[i].kept) order_.insert(order_.begin(), i);
  }
}

/// Waits for the parameters of a unit, with those of the next ones on their way.
void Piece::enter_unit(std::size_t unit, Schedule& out, std::int32_t stage) {
  const auto turn = std::ranges::find(order_, unit);
  if (turn == order_.end()) return;
  const auto ahead = static_cast<std::size_t>(turn - order_.begin()) + 1 + static_cast<std::size_t>(how_.prefetch);
  for (; gathered_ < std::min(ahead, order_.size()); ++gathered_) {
    const Unit& next = units_[order_[gathered_]];
    if (!(next.bytes > 0)) continue;
    gathers_[order_[gathered_]] =
        add_replicas(CollectiveKind::all_gather, next.name, next.bytes / replicas_, out, stage);
  }
  const std::int32_t gather = std::exchange(gathers_[unit], -1);
  if (gather >= 0) out.tasks.push_back({units_[unit].name, WaitTask{Role::workers, gather}, stage});
}

}  // namespace dadsim::step
