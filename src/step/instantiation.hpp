#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "step/schedule.hpp"

namespace dadsim::step {

/// Places of layers in a network.
using Positions = std::vector<std::size_t>;

/// The layers that a sweep has groups for: those with an outer product, or all with a matrix.
bool takes_part(const spec::LayerShape& layer, bool embeddings);
/// Where those layers stand in the network.
Positions positions_of(const spec::ModelShape& model, bool embeddings);
/// A table without what its layer has beside it.
spec::LayerShape embedding_alone(spec::LayerShape layer);
/// What a table's layer has beside it: nothing but parameters.
spec::LayerShape beside_embedding(const spec::LayerShape& layer);
StepSizes scale_samples(const StepSizes& sizes, double scale);

/// Expands a recorded step into tasks with numbers for the layers of another network.
class Instantiation {
 public:
  Instantiation(const StepStructure& structure, const StepSizes& sizes, const spec::ModelShape& learned,
                const spec::ModelShape& timed, double sample_scale, spec::Precision precision, Assignment assignment,
                Buckets buckets = {}, const spec::LayerRange* only = nullptr)
      : structure_(structure),
        buckets_(buckets),
        only_(only == nullptr ? spec::LayerRange{0, timed.layers.size()} : *only),
        assignment_(std::move(assignment)),
        learned_(learned),
        timed_(timed),
        recorded_(sizes),
        sizes_(scale_samples(sizes, sample_scale)),
        learned_positions_{positions_of(learned, false), positions_of(learned, true)},
        timed_positions_{positions_of(timed, false), positions_of(timed, true)} {
    if (learned_positions_[0].empty() || timed_positions_[0].empty())
      throw std::invalid_argument("a network without matrix layers");
    schedule_.workers = sizes_.samples.size();
    schedule_.precision = precision;
    narrower_ = bytes_per_element(precision) / bytes_per_element(spec::Precision::fp32);
    std::set<std::int32_t> waited;
    for (const Sweep& sweep : structure_.sweeps) {
      embeddings_apart_ |= sweep.embeddings;
      for (const Group& group : sweep.groups) {
        const std::int32_t at = group.layer < 0 ? -1 : learned_position(group.layer, sweep.embeddings);
        for (const Op& op : group.ops) {
          recorded_at_[op.serial] = at;
          if (std::holds_alternative<WaitOp>(op.what)) waited.insert(at);
          if (is_of_pass(op) && !waited.contains(at)) of_pass_.insert(op.serial);
        }
      }
    }
    spec::ModelShape in_range{timed.name, {}};
    for (std::size_t i = only_.first; i < only_.end; ++i) in_range.layers.push_back(timed.layers[i]);
    for (const bool embeddings : {false, true}) {
      all_layers_[embeddings ? 1 : 0] = spec::all_as_one(in_range, embeddings);
    }
    for (std::size_t i = 0; i < timed.layers.size(); ++i) {
      deltas_.emplace(&timed.layers[i], spec::delta_relations(timed, i));
    }
    for (const spec::LayerShape& layer : timed.layers) {
      if (layer.kind != spec::LayerKind::embedding || !layer.has_matrix()) continue;
      tables_.emplace(&layer, embedding_alone(layer));
      if (const spec::LayerShape rest = beside_embedding(layer); rest.parameters > 0) rests_.emplace(&layer, rest);
    }
  }

  Schedule run() {
    const std::vector<Sweep>& sweeps = structure_.sweeps;
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      const Sweep& sweep = sweeps[i];
      if (const std::size_t staged = sweeps_in_buckets(i); staged > 0) {
        expand_in_buckets(std::span(sweeps).subspan(i, staged));
        i += staged - 1;
        continue;
      }
      expand(sweep);
    }
    return std::move(schedule_);
  }

  void expand(const Sweep& sweep) {
    if (sweep.stage == kTogether) {
      const Positions& forward = timed_positions_.at(sweep.embeddings ? 1 : 0);
      emit_stage(sweep, {forward.rbegin(), forward.rend()});
      return;
    }
    switch (sweep.over) {
      case Over::layers_forward:
        expand_layers(sweep, false);
        break;
      case Over::layers_backward:
        expand_layers(sweep, true);
        break;
      case Over::last_layer:
        if (only_.holds(timed_positions_[0].back())) expand_once(sweep, {last_matrix_layer()});
        break;
      case Over::other_layers:
        expand_once(sweep, other_layers());
        break;
      case Over::all_layers:
        expand_once(sweep, {&all_layers_[sweep.embeddings ? 1 : 0]});
        break;
    }
  }

  /// What each alternative of each layer costs.
  std::vector<LayerCosts> costs(const Price& price);

 private:
  /// Whether it is a part of the passes through the network.
  static bool is_of_pass(const Op& op) {
    const auto* compute = std::get_if<ComputeOp>(&op.what);
    return compute != nullptr && (compute->phase == Phase::forward || compute->phase == Phase::loss ||
                                  compute->phase == Phase::backpropagate || compute->phase == Phase::weight_gradient);
  }

  /// Whether the Δ of a layer follows from that of the layer after it alone.
  bool chained(std::size_t below, std::size_t above) const {
    return above == below + 1 && timed_.layers[below].delta_follows;
  }

  void add_costs(const Group& group, std::size_t position, const Price& price, std::vector<double>& costs);

  /// Whether the layer takes an alternative that the op belongs to.
  bool is_taken(const Op& op, std::size_t position) const {
    return op.only_in == 0 || (assignment_.at(position) >= 0 && ((op.only_in >> assignment_[position]) & 1) != 0);
  }

  /// Where an op is: the layer of the timed network and the learned layer that stands for it, both as positions in
  /// their networks; -1 outside of sweeps over layers.
  struct Place {
    std::int32_t timed = -1;
    std::int32_t learned = -1;
    bool embeddings = false;
  };

  const spec::LayerShape* last_matrix_layer() const { return &timed_.layers[timed_positions_[0].back()]; }

  std::int32_t learned_position(std::int32_t index, bool embeddings) const {
    const Positions& positions = learned_positions_.at(embeddings ? 1 : 0);
    if (static_cast<std::size_t>(index) >= positions.size())
      throw std::logic_error("a group of a layer that the learned network does not have");
    return static_cast<std::int32_t>(positions[static_cast<std::size_t>(index)]);
  }

  std::vector<const spec::LayerShape*> other_layers() const {
    std::vector<const spec::LayerShape*> layers;
    for (std::size_t i = only_.first; i < only_.end; ++i) {
      const spec::LayerShape& layer = timed_.layers[i];
      if (layer.has_outer_product() || layer.parameters == 0) continue;
      if (!embeddings_apart_ || !tables_.contains(&layer)) {
        layers.push_back(&layer);
      } else if (const auto rest = rests_.find(&layer); rest != rests_.end()) {
        layers.push_back(&rest->second);
      }
    }
    return layers;
  }

  void expand_layers(const Sweep& sweep, bool backward) {
    const std::size_t count = timed_.layers.size();
    for (std::size_t i = 0; i < count; ++i) expand_layer(sweep, backward ? count - 1 - i : i);
  }

  void expand_layer(const Sweep& sweep, std::size_t position) {
    if (!only_.holds(position)) return;
    const Positions& timed = timed_positions_.at(sweep.embeddings ? 1 : 0);
    const Positions& learned = learned_positions_.at(sweep.embeddings ? 1 : 0);
    const spec::LayerShape& layer = timed_.layers[position];
    // Layers that have no group of their own follow the recipe of the one before them, in the order of the network.
    const auto after = std::upper_bound(timed.begin(), timed.end(), position);
    const auto matrix = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - timed.begin() - 1));
    const std::size_t stand_in = layer_at_same_depth(matrix, timed.size(), learned.size());
    const auto group = std::ranges::find(sweep.groups, static_cast<std::int32_t>(stand_in), &Group::layer);
    if (group == sweep.groups.end()) throw std::logic_error("a sweep over layers lacks a layer");
    const Place place{static_cast<std::int32_t>(position), static_cast<std::int32_t>(learned[stand_in]),
                      sweep.embeddings};
    const auto table = tables_.find(&layer);
    for (const Op& op : group->ops) {
      const auto* compute = std::get_if<ComputeOp>(&op.what);
      const bool every_layer = compute != nullptr && compute->every_layer;
      // Alternatives are of matrices alone.
      if (!takes_part(layer, sweep.embeddings) && (!every_layer || op.only_in != 0)) continue;
      if (!is_taken(op, position)) continue;
      if (compute != nullptr && compute->except_first_layer && position == 0) continue;
      emit(op, {table == tables_.end() || every_layer ? &layer : &table->second}, place);
    }
  }

  /// With buckets, how many sweeps from this one on stand together: one over layers, what else was recorded at its end,
  /// and the stages that follow on it; 0 where there are none.
  std::size_t sweeps_in_buckets(std::size_t first) const {
    const std::vector<Sweep>& sweeps = structure_.sweeps;
    if (!(buckets_.bytes > 0) || sweeps[first].over != Over::layers_backward || sweeps[first].stage == kTogether)
      return 0;
    std::size_t end = first + 1;
    while (end < sweeps.size() && sweeps[end].over == Over::other_layers) ++end;
    const std::size_t stages = end;
    while (end < sweeps.size() && sweeps[end].stage > 0) ++end;
    return end > stages ? end - first : 0;
  }

  /// See Sweep::stage. `sweeps` as sweeps_in_buckets() counts them.
  void expand_in_buckets(std::span<const Sweep> sweeps);

  /// A sweep over the layers of a bucket. What they send in the same place of their recipes is one message.
  void emit_stage(const Sweep& sweep, const Positions& bucket);

  void expand_once(const Sweep& sweep, const std::vector<const spec::LayerShape*>& layers) {
    if (layers.empty()) return;
    for (const Group& group : sweep.groups) {
      for (const Op& op : group.ops) emit(op, layers, {});
    }
  }

  /// Floats are sent as wide as they are in memory.
  double wire_bytes(const Payload& payload, const Scope& scope) const {
    return payload.bytes(scope) * (payload.type == ElementType::float32 ? narrower_ : 1);
  }

  double evaluate(const Expression& expression, const std::vector<const spec::LayerShape*>& layers,
                  std::int32_t worker) const {
    double sum = 0;
    for (const spec::LayerShape* layer : layers) {
      sum += expression.evaluate(scope_of(layer, worker));
    }
    return sum;
  }

  Scope scope_of(const spec::LayerShape* layer, std::int32_t worker) const {
    const auto deltas = deltas_.find(layer);
    return {layer,
            &sizes_,
            worker,
            sums_of(layer),
            deltas == deltas_.end() ? spec::DeltaRelations{} : deltas->second,
            stand_in_.layer == nullptr ? nullptr : &stand_in_,
            nullptr,
            classes_};
  }

  /// What is sized from here on stands for what this layer of the learned network found; -1: for no layer's.
  void size_after(std::int32_t learned) {
    sums_.clear();
    learned_sums_.clear();
    if (learned < 0) {
      stand_in_ = {};
    } else if (const spec::LayerShape* layer = &learned_.layers[static_cast<std::size_t>(learned)];
               layer != stand_in_.layer) {
      stand_in_ = {layer, &recorded_, spec::delta_relations(learned_, static_cast<std::size_t>(learned)),
                   &learned_sums_};
    }
  }

  /// Sums over workers are the same for every worker: they are worked out once per op and layer.
  KnownSums* sums_of(const spec::LayerShape* layer) const { return &sums_[layer]; }

  /// Workers for which everything of an op is the same: with their recorded samples and numbers, of which all others
  /// follow.
  const WorkerClasses& classes_in(const Op& op) const;

  /// Worked out once for those who are alike.
  template <class Value>
  PerWorker per_participant(Role who, Value&& value) const {
    if (who == Role::aggregator) return PerWorker({value(-1)});
    std::vector<double> of_class;
    for (const std::int32_t worker : classes_->first) of_class.push_back(value(worker));
    if (classes_->class_of.empty()) return PerWorker(std::move(of_class));
    std::vector<double> values;
    values.reserve(schedule_.workers);
    for (const std::int32_t own : classes_->class_of) values.push_back(of_class[static_cast<std::size_t>(own)]);
    return PerWorker(std::move(values));
  }

  const Work& cheapest(const ComputeOp& op, const std::vector<const spec::LayerShape*>& layers,
                       std::int32_t worker) const {
    const Work* best = nullptr;
    double fewest = 0;
    for (const Work& branch : op.branches) {
      const double flops = evaluate(branch.flops, layers, worker);
      if (best == nullptr || flops < fewest) {
        best = &branch;
        fewest = flops;
      }
    }
    if (best == nullptr) throw std::logic_error("a computation without a cost");
    return *best;
  }

  /// The position at which a collective was issued that is waited for at `place`. A wait at one layer for the
  /// collective of another keeps its distance in layers.
  std::int32_t awaited_at(std::int32_t collective, const Place& place) const {
    const std::int32_t recorded = recorded_at_.at(collective);
    if (recorded < 0) return -1;
    if (place.learned < 0 || recorded == place.learned) return place.timed;
    const auto index_of = [](const Positions& positions, std::int32_t position) {
      return std::ranges::find(positions, static_cast<std::size_t>(position)) - positions.begin();
    };
    const Positions& learned = learned_positions_.at(place.embeddings ? 1 : 0);
    const Positions& timed = timed_positions_.at(place.embeddings ? 1 : 0);
    const std::ptrdiff_t distance = index_of(learned, recorded) - index_of(learned, place.learned);
    const std::ptrdiff_t at = index_of(timed, place.timed) + distance;
    // Nothing was issued beyond the ends: not found.
    return at < 0 || at >= std::ssize(timed) ? -2 : static_cast<std::int32_t>(timed[static_cast<std::size_t>(at)]);
  }

  /// What the efficiency of a computation depends on beside its amounts.
  static void describe_layer(const std::vector<const spec::LayerShape*>& layers, ComputeTask& task) {
    if (layers.size() != 1) {
      task.kind = spec::LayerKind::element_wise;
      return;
    }
    const spec::LayerShape& layer = *layers.front();
    task.kind = layer.kind;
    if (layer.has_outer_product()) task.weights = static_cast<double>(layer.in) * static_cast<double>(layer.out);
    task.overlap = layer.overlap();
    // The gradient of a recurrence's weights is one product over all positions.
    if (task.phase != Phase::forward && task.phase != Phase::backpropagate) return;
    task.sequential = static_cast<double>(layer.sequential);
    task.launches = task.launches.scaled(task.sequential);
  }

  /// A computation or a collective with its numbers.
  Task sized(const Op& op, const std::vector<const spec::LayerShape*>& layers) const;

  void emit(const Op& op, const std::vector<const spec::LayerShape*>& layers, const Place& place);

  /// Serial and timed position of a collective.
  using Key = std::pair<std::int32_t, std::int32_t>;
  /// What the layers of a bucket send and wait for in a stage.
  struct Merged {
    std::size_t next = 0;  ///< collectives of the layer at hand so far
    std::vector<std::pair<Task, std::vector<Key>>> messages;
    std::vector<std::size_t> number;  ///< per message: its place in the layers' recipes
    std::set<std::int32_t> waited;

    void add(std::size_t place, Task task, Key member) {
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
  };
  std::optional<Merged> merged_;

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::int32_t kNothing = -1;  ///< a collective that was left out

  const StepStructure& structure_;
  Buckets buckets_;
  spec::LayerRange only_;
  std::set<std::int32_t> of_pass_;  ///< serials: see ComputeTask::of_pass
  Assignment assignment_;
  const spec::ModelShape& learned_;
  const spec::ModelShape& timed_;
  const StepSizes& recorded_;
  StepSizes sizes_;
  std::array<Positions, 2> learned_positions_;  ///< of the layers of a sweep without and with tables
  std::array<Positions, 2> timed_positions_;
  std::array<spec::LayerShape, 2> all_layers_;  ///< those of a sweep without and with tables, as one
  bool embeddings_apart_ = false;               ///< some sweep goes over tables
  std::map<const spec::LayerShape*, spec::LayerShape> tables_,
      rests_;  ///< a table's layer → the table, and what is beside it
  std::map<const spec::LayerShape*, spec::DeltaRelations> deltas_;
  mutable std::map<const spec::LayerShape*, KnownSums> sums_;
  mutable std::map<Numbers, WorkerClasses> classes_by_;
  mutable std::map<const Op*, const WorkerClasses*> classes_of_op_;
  mutable const WorkerClasses* classes_ = nullptr;  ///< in the op that is sized
  LearnedLayer stand_in_;                           ///< of the layer that is sized; without a layer: of none
  KnownSums learned_sums_;
  Schedule schedule_;
  double narrower_ = 1;                               ///< bytes of a float ÷ those in fp32
  std::map<std::int32_t, std::int32_t> recorded_at_;  ///< serial → position in the learned network
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> task_of_;  ///< (serial, timed position) → task
};

}  // namespace dadsim::step
