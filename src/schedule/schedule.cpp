#include "schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "schedule/assignment.hpp"
#include "schedule/layer_positions.hpp"
#include "schedule/op_sizing.hpp"

namespace dadsim::schedule {
namespace {

constexpr std::int32_t kNothing = -1;  // index of a collective that was left out

/// Returns true for an op of a forward or backward pass.
bool is_of_pass(const step::Op& op) {
  const auto* compute = std::get_if<step::ComputeOp>(&op.what);
  return compute != nullptr &&
         (compute->phase == step::Phase::forward || compute->phase == step::Phase::loss ||
          compute->phase == step::Phase::backpropagate || compute->phase == step::Phase::weight_gradient);
}

/// Expands a recorded step into tasks with numeric sizes, for the layers of another network.
class Instantiation {
 public:
  /// Arguments as in instantiate(). `only`: creates tasks for these layers alone.
  Instantiation(const step::StepStructure& structure, const step::StepSizes& sizes, const spec::ModelShape& learned,
                const spec::ModelShape& timed, double sample_scale, spec::Precision precision,
                step::Assignment assignment, Buckets buckets = {}, const spec::LayerRange* only = nullptr,
                bool keep_empty = false)
      : structure_(structure),
        timed_(timed),
        positions_(learned, timed),
        sizing_(sizes, learned, timed, sample_scale, precision),
        assignment_(std::move(assignment)),
        buckets_(buckets),
        only_(only == nullptr ? spec::LayerRange{0, timed.layers.size()} : *only),
        keep_empty_(keep_empty) {
    schedule_.workers = sizing_.workers();
    schedule_.precision = precision;
    look_through_ops();
    spec::ModelShape in_range{timed.name, {}};
    for (std::size_t i = only_.first; i < only_.end; ++i) in_range.layers.push_back(timed.layers[i]);
    for (const bool embeddings : {false, true})
      all_layers_[embeddings ? 1 : 0] = spec::all_as_one(in_range, embeddings);
  }

  Schedule run() {
    const std::vector<step::Sweep>& sweeps = structure_.sweeps;
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      if (const std::size_t staged = sweeps_in_buckets(i); staged > 0) {
        expand_in_buckets(std::span(sweeps).subspan(i, staged));
        i += staged - 1;
      } else {
        expand(sweeps[i]);
      }
    }
    return std::move(schedule_);
  }

 private:
  /// Key of a collective: its serial number and timed position.
  using Key = std::pair<std::int32_t, std::int32_t>;
  /// Messages and waits of a stage that the layers of a bucket share.
  struct Merged {
    std::size_t next = 0;  ///< number of the current layer's collectives so far
    std::vector<std::pair<Task, std::vector<Key>>> messages;
    std::vector<std::size_t> number;  ///< index of each message in the layers' op lists
    std::set<std::int32_t> waited;

    void add(std::size_t place, Task task, Key member);
  };

  /// Records the place of each op, and which ops belong to passes through the network.
  void look_through_ops() {
    std::set<std::int32_t> waited;
    for (const step::Sweep& sweep : structure_.sweeps) {
      embeddings_apart_ |= sweep.embeddings;
      for (const step::Group& group : sweep.groups) {
        const std::int32_t at = group.layer < 0 ? -1 : positions_.learned_position(group.layer, sweep.embeddings);
        for (const step::Op& op : group.ops) {
          recorded_at_[op.serial] = at;
          if (std::holds_alternative<step::WaitOp>(op.what)) waited.insert(at);
          if (is_of_pass(op) && !waited.contains(at)) of_pass_.insert(op.serial);
        }
      }
    }
  }
  /// Returns true if the layer takes the alternative of the op.
  bool is_taken(const step::Op& op, std::size_t position) const {
    return op.alternatives == 0 ||
           (assignment_.at(position) >= 0 && ((op.alternatives >> assignment_[position]) & 1) != 0);
  }

  void expand(const step::Sweep& sweep) {
    if (sweep.stage == step::kTogether) {
      const Positions& forward = positions_.timed(sweep.embeddings);
      emit_stage(sweep, {forward.rbegin(), forward.rend()});
      return;
    }
    const std::size_t last = positions_.timed(false).back();
    switch (sweep.over) {
      case step::Over::layers_forward:
        expand_layers(sweep, false);
        break;
      case step::Over::layers_backward:
        expand_layers(sweep, true);
        break;
      case step::Over::last_layer:
        if (only_.holds(last)) expand_once(sweep, {&timed_.layers[last]});
        break;
      case step::Over::other_layers:
        expand_once(sweep, positions_.other_layers(only_, embeddings_apart_));
        break;
      case step::Over::all_layers:
        expand_once(sweep, {&all_layers_[sweep.embeddings ? 1 : 0]});
        break;
    }
  }
  void expand_layers(const step::Sweep& sweep, bool backward) {
    const std::size_t count = timed_.layers.size();
    for (std::size_t i = 0; i < count; ++i) expand_layer(sweep, backward ? count - 1 - i : i);
  }
  void expand_layer(const step::Sweep& sweep, std::size_t position) {
    if (!only_.holds(position)) return;
    const spec::LayerShape& layer = timed_.layers[position];
    const std::size_t stand_in = positions_.stand_in(position, sweep.embeddings);
    const auto group = std::ranges::find(sweep.groups, static_cast<std::int32_t>(stand_in), &step::Group::layer);
    if (group == sweep.groups.end()) throw std::logic_error("a sweep over layers lacks a layer");
    const Place place{static_cast<std::int32_t>(position),
                      static_cast<std::int32_t>(positions_.learned(sweep.embeddings)[stand_in]), sweep.embeddings};
    for (const step::Op& op : group->ops) {
      const auto* compute = std::get_if<step::ComputeOp>(&op.what);
      const bool every_layer = compute != nullptr && compute->every_layer;
      // Layers without a matrix have no alternatives.
      if (!takes_part(layer, sweep.embeddings) && (!every_layer || op.alternatives != 0)) continue;
      if (!is_taken(op, position)) continue;
      if (compute != nullptr && compute->except_first_layer && position == 0) continue;
      emit(op, {every_layer ? &layer : &positions_.without_beside(layer)}, place);
    }
  }
  void expand_once(const step::Sweep& sweep, const std::vector<const spec::LayerShape*>& layers) {
    if (layers.empty()) return;
    for (const step::Group& group : sweep.groups) {
      for (const step::Op& op : group.ops) emit(op, layers, {});
    }
  }
  /// Returns, with buckets, the number of sweeps from `first` on that are emitted together: a sweep over layers, the
  /// ops recorded at its end, and the stages after it. Returns 0 if there are none.
  std::size_t sweeps_in_buckets(std::size_t first) const {
    const std::vector<step::Sweep>& sweeps = structure_.sweeps;
    if (!(buckets_.bytes > 0) || sweeps[first].over != step::Over::layers_backward ||
        sweeps[first].stage == step::kTogether)
      return 0;
    std::size_t end = first + 1;
    while (end < sweeps.size() && sweeps[end].over == step::Over::other_layers) ++end;
    const std::size_t stages = end;
    while (end < sweeps.size() && sweeps[end].stage > 0) ++end;
    return end > stages ? end - first : 0;
  }
  /// Emits sweeps bucket by bucket; see Sweep::stage. `sweeps`: as counted by sweeps_in_buckets().
  void expand_in_buckets(std::span<const step::Sweep> sweeps) {
    const auto first_stage = static_cast<std::size_t>(
        std::ranges::find_if(sweeps, [](const step::Sweep& s) { return s.stage > 0; }) - sweeps.begin());
    const std::span<const step::Sweep> all_stages = sweeps.subspan(first_stage);
    std::vector<Positions> buckets(1);
    double bytes = 0;
    const auto stages_behind = [&](std::size_t newest) {
      for (std::size_t behind = 0; behind < all_stages.size(); ++behind) {
        if (newest >= behind && newest - behind + 1 < buckets.size())
          emit_stage(all_stages[behind], buckets[newest - behind]);
      }
    };
    const std::size_t count = timed_.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t position = count - 1 - i;
      expand_layer(sweeps[0], position);
      const spec::LayerShape& layer = timed_.layers[position];
      if (!only_.holds(position) || !takes_part(layer, sweeps[0].embeddings)) continue;
      buckets.back().push_back(position);
      bytes += 4.0 * sizing_.narrower() * static_cast<double>(positions_.without_beside(layer).parameters);
      if (bytes < (buckets.size() == 1 ? std::min(buckets_.first, buckets_.bytes) : buckets_.bytes)) continue;
      buckets.emplace_back();
      bytes = 0;
      stages_behind(buckets.size() - 2);
    }
    for (std::size_t i = 1; i < first_stage; ++i) expand(sweeps[i]);
    // Emits the last bucket, and the later stages of the previous buckets.
    const bool open = !buckets.back().empty();
    if (open) buckets.emplace_back();
    for (std::size_t newest = buckets.size() - (open ? 2 : 1); newest < buckets.size() + sweeps.size(); ++newest)
      stages_behind(newest);
  }
  /// Emits a sweep over the layers of a bucket. Messages at the same index of the layers' op lists are merged into one.
  void emit_stage(const step::Sweep& sweep, const Positions& bucket) {
    merged_.emplace(Merged{});
    for (const std::size_t position : bucket) {
      // Experts' gradients are not merged with others, because other devices sum them.
      constexpr std::size_t kOfExperts = 1'000'000;
      merged_->next = timed_.layers[position].expert_group > 1 ? kOfExperts : 0;
      expand_layer(sweep, position);
    }
    Merged merged = std::move(*std::exchange(merged_, std::nullopt));
    for (auto& [task, members] : merged.messages) {
      for (const auto& member : members) task_of_[member] = static_cast<std::int32_t>(schedule_.tasks.size());
      schedule_.tasks.push_back(std::move(task));
    }
  }

  void emit(const step::Op& op, const std::vector<const spec::LayerShape*>& layers, const Place& place) {
    sizing_.stand_for(place.learned);
    if (const auto* wait = std::get_if<step::WaitOp>(&op.what)) return emit_wait(*wait, layers, place);
    Task task = sizing_.sized(op, layers);
    if (auto* compute = std::get_if<ComputeTask>(&task.what)) {
      compute->of_pass = of_pass_.contains(op.serial);
      schedule_.uses_aggregator |= compute->who == step::Role::aggregator;
    } else {
      auto& collective = std::get<CollectiveTask>(task.what);
      const std::int32_t copies = layers.size() == 1 ? layers.front()->expert_copies : 1;
      const bool divided = layers.size() == 1 && layers.front()->expert_group > 1;
      if (divided) collective.among = Among::expert_copies;
      const std::size_t message = merged_ ? merged_->next++ : 0;
      // Sends nothing if the collective has no bytes, or if no other device holds the experts of the layer.
      const bool empty = collective.bytes == PerWorker() || (divided && copies == 1);
      if (empty && !keep_empty_) {
        task_of_[{op.serial, place.timed}] = kNothing;
        return;
      }
      schedule_.uses_aggregator |= !empty && step::is_star(collective.kind);
      if (merged_) {
        merged_->add(message, std::move(task), {op.serial, place.timed});
        return;
      }
      task_of_[{op.serial, place.timed}] = static_cast<std::int32_t>(schedule_.tasks.size());
    }
    schedule_.tasks.push_back(std::move(task));
  }
  void emit_wait(const step::WaitOp& wait, const std::vector<const spec::LayerShape*>& layers, const Place& place) {
    const std::int32_t at = positions_.awaited_at(recorded_at_.at(wait.collective), place);
    const auto found = task_of_.find({wait.collective, at});
    // Skips the wait for a collective of another stage, which is waited for in that stage.
    if (found == task_of_.end() && only_.end - only_.first < timed_.layers.size()) return;
    if (found == task_of_.end()) throw std::logic_error("a wait needs an earlier collective");
    if (found->second == kNothing) return;
    if (merged_ && !merged_->waited.insert(found->second).second) return;
    schedule_.tasks.push_back(
        {layers.size() == 1 ? layers.front()->name : "other layers", WaitTask{wait.who, found->second}});
  }

  const step::StepStructure& structure_;
  const spec::ModelShape& timed_;
  LayerPositions positions_;
  OpSizing sizing_;
  step::Assignment assignment_;
  Buckets buckets_;
  spec::LayerRange only_;
  bool keep_empty_;
  std::array<spec::LayerShape, 2> all_layers_;        ///< all layers of a sweep merged into one, without and with
                                                      ///< tables
  bool embeddings_apart_ = false;                     ///< true: some sweep includes tables
  std::map<std::int32_t, std::int32_t> recorded_at_;  ///< position in the learned network, by serial
  std::set<std::int32_t> of_pass_;                    ///< serials of ops with ComputeTask::of_pass
  std::map<Key, std::int32_t> task_of_;               ///< index of the task of each collective
  std::optional<Merged> merged_;
  Schedule schedule_;
};

void Instantiation::Merged::add(std::size_t place, Task task, Key member) {
  const auto at = std::ranges::find(number, place) - number.begin();
  if (at == std::ssize(number)) {
    number.push_back(place);
    messages.emplace_back(std::move(task), std::vector<Key>{member});
    return;
  }
  auto& [sum, members] = messages[static_cast<std::size_t>(at)];
  auto& into = std::get<CollectiveTask>(sum.what);
  into.bytes = into.bytes.plus(std::get<CollectiveTask>(task.what).bytes);
  sum.layer = sum.layer.substr(0, sum.layer.find(" … ")) + " … " + task.layer;
  members.push_back(member);
}

PerWorker some_of(const PerWorker& values, const std::vector<std::int32_t>& replicas) {
  if (values.is_uniform()) return values;
  std::vector<double> some;
  for (const std::int32_t replica : replicas) some.push_back(values[static_cast<std::size_t>(replica)]);
  return PerWorker(some);
}

std::shared_ptr<const step::Neighbours> some_of(const step::Neighbours& graph,
                                                const std::vector<std::int32_t>& replicas) {
  auto some = std::make_shared<step::Neighbours>();
  for (const std::int32_t from : replicas) {
    std::vector<std::int32_t>& to = some->to.emplace_back();
    for (const std::int32_t receiver : graph.to.at(static_cast<std::size_t>(from))) {
      const auto place = std::ranges::lower_bound(replicas, receiver);
      if (place != replicas.end() && *place == receiver) {
        to.push_back(static_cast<std::int32_t>(place - replicas.begin()));
      }
    }
  }
  return some;
}

}  // namespace

Schedule instantiate(const step::StepStructure& structure, const step::StepSizes& sizes,
                     const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                     spec::Precision precision, const step::Assignment* assignment, const Buckets& buckets,
                     const spec::LayerRange* only, bool keep_empty) {
  step::Assignment fewest;
  if (assignment == nullptr && !structure.alternatives.all.empty()) {
    fewest = fewest_bytes(structure, sizes, learned, timed, sample_scale, precision);
    assignment = &fewest;
  }
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision,
                       assignment == nullptr ? step::Assignment{} : *assignment, buckets, only, keep_empty)
      .run();
}

PerWorker::PerWorker(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("no values");
  value_ = values.front();
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
    values_ = std::make_shared<const std::vector<double>>(values);
}

bool PerWorker::operator==(const PerWorker& other) const {
  return value_ == other.value_ && is_uniform() == other.is_uniform() && (is_uniform() || *values_ == *other.values_);
}

bool CollectiveTask::operator==(const CollectiveTask& other) const {
  return kind == other.kind && bytes == other.bytes && algorithm == other.algorithm &&
         step::same_graph(neighbours, other.neighbours) && among == other.among && to_stage == other.to_stage &&
         row_experts == other.row_experts;
}

PerWorker PerWorker::scaled(double factor) const {
  PerWorker result = *this;
  result.value_ *= factor;
  if (is_uniform()) return result;
  std::vector<double> values = *values_;
  for (double& value : values) value *= factor;
  result.values_ = std::make_shared<const std::vector<double>>(std::move(values));
  return result;
}

PerWorker PerWorker::plus(const PerWorker& other) const {
  if (is_uniform() && other.is_uniform()) {
    PerWorker sum;
    sum.value_ = value_ + other.value_;
    return sum;
  }
  std::vector<double> sums = is_uniform() ? *other.values_ : *values_;
  const PerWorker& beside = is_uniform() ? *this : other;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += beside[i];
  return PerWorker(sums);
}

bool has_barrier(const Schedule& schedule) {
  bool exchanges = false;
  for (const Task& task : schedule.tasks) {
    const auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr || collective->among != Among::replicas) continue;
    if (collective->kind != step::CollectiveKind::neighbour_exchange) return true;
    exchanges = true;
  }
  return !exchanges;
}

Schedule repeated(const Schedule& schedule, std::size_t count) {
  Schedule result = schedule;
  result.tasks.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::int32_t>(result.tasks.size());
    for (Task task : schedule.tasks) {
      if (auto* wait = std::get_if<WaitTask>(&task.what)) wait->collective += first;
      result.tasks.push_back(std::move(task));
    }
  }
  return result;
}

std::size_t layer_at_same_depth(std::size_t timed, std::size_t timed_layers, std::size_t learned_layers) {
  if (timed >= timed_layers || learned_layers == 0) throw std::invalid_argument("no such layer");
  if (timed_layers == 1) return learned_layers - 1;
  const double depth = static_cast<double>(timed) / static_cast<double>(timed_layers - 1);
  return static_cast<std::size_t>(std::lround(depth * static_cast<double>(learned_layers - 1)));
}

Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas) {
  Schedule some = schedule;
  some.workers = schedule.workers / schedule.replicas() * replicas.size();
  for (Task& task : some.tasks) {
    if (auto* compute = std::get_if<ComputeTask>(&task.what);
        compute != nullptr && compute->who == step::Role::workers) {
      for (PerWorker* values : {&compute->flops, &compute->bytes_moved, &compute->launches, &compute->seconds}) {
        *values = some_of(*values, replicas);
      }
    }
    if (auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      if (collective->kind != step::CollectiveKind::broadcast) collective->bytes = some_of(collective->bytes, replicas);
      if (collective->neighbours != nullptr) collective->neighbours = some_of(*collective->neighbours, replicas);
    }
  }
  return some;
}

}  // namespace dadsim::schedule
