#include "step/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

namespace dadsim::step {
namespace {

using Positions = std::vector<std::size_t>;

/// The layers that a sweep has groups for: those with an outer product, or all with a matrix.
bool takes_part(const spec::LayerShape& layer, bool embeddings) {
  return embeddings ? layer.has_matrix() : layer.has_outer_product();
}

/// Where those layers stand in the network.
Positions positions_of(const spec::ModelShape& model, bool embeddings) {
  Positions positions;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (takes_part(model.layers[i], embeddings)) positions.push_back(i);
  }
  return positions;
}

/// A table without what its layer has beside it.
spec::LayerShape embedding_alone(spec::LayerShape layer) {
  layer.parameters = layer.in * layer.out;
  layer.bias = false;
  return layer;
}

/// What a table's layer has beside it: nothing but parameters.
spec::LayerShape beside_embedding(const spec::LayerShape& layer) {
  spec::LayerShape rest;
  rest.name = layer.name;
  rest.kind = spec::LayerKind::element_wise;
  rest.parameters = layer.parameters - layer.in * layer.out;
  return rest;
}

StepSizes scale_samples(const StepSizes& sizes, double scale) {
  if (!(scale > 0)) throw std::invalid_argument("the scale of samples must be positive");
  StepSizes scaled = sizes;
  for (std::int32_t& samples : scaled.samples) {
    if (samples > 0) samples = static_cast<std::int32_t>(std::max(1.0, std::round(samples * scale)));
  }
  return scaled;
}

/// Expands a recorded step into tasks with numbers for the layers of another network.
class Instantiation {
 public:
  Instantiation(const StepStructure& structure, const StepSizes& sizes, const spec::ModelShape& learned,
                const spec::ModelShape& timed, double sample_scale, spec::Precision precision)
      : structure_(structure),
        timed_(timed),
        sizes_(scale_samples(sizes, sample_scale)),
        learned_positions_{positions_of(learned, false), positions_of(learned, true)},
        timed_positions_{positions_of(timed, false), positions_of(timed, true)} {
    if (learned_positions_[0].empty() || timed_positions_[0].empty())
      throw std::invalid_argument("a network without matrix layers");
    schedule_.workers = sizes_.samples.size();
    schedule_.precision = precision;
    narrower_ = bytes_per_element(precision) / bytes_per_element(spec::Precision::fp32);
    for (const Sweep& sweep : structure_.sweeps) {
      embeddings_apart_ |= sweep.embeddings;
      for (const Group& group : sweep.groups) {
        const std::int32_t at = group.layer < 0 ? -1 : learned_position(group.layer, sweep.embeddings);
        for (const Op& op : group.ops) recorded_at_[op.serial] = at;
      }
    }
    for (const spec::LayerShape& layer : timed.layers) {
      if (layer.kind != spec::LayerKind::embedding || !layer.has_matrix()) continue;
      tables_.emplace(&layer, embedding_alone(layer));
      if (const spec::LayerShape rest = beside_embedding(layer); rest.parameters > 0) rests_.emplace(&layer, rest);
    }
  }

  Schedule run() {
    for (const Sweep& sweep : structure_.sweeps) {
      switch (sweep.over) {
        case Over::layers_forward:
          expand_layers(sweep, false);
          break;
        case Over::layers_backward:
          expand_layers(sweep, true);
          break;
        case Over::last_layer:
          expand_once(sweep, {last_matrix_layer()});
          break;
        case Over::other_layers:
          expand_once(sweep, other_layers());
          break;
      }
    }
    return std::move(schedule_);
  }

 private:
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
    for (const spec::LayerShape& layer : timed_.layers) {
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
    std::map<std::int32_t, const Group*> group_of;
    for (const Group& group : sweep.groups) group_of[group.layer] = &group;
    const Positions& timed = timed_positions_.at(sweep.embeddings ? 1 : 0);
    const Positions& learned = learned_positions_.at(sweep.embeddings ? 1 : 0);
    const std::size_t count = timed_.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t position = backward ? count - 1 - i : i;
      const spec::LayerShape& layer = timed_.layers[position];
      // Layers that have no group of their own follow the recipe of the one before them, in the order of the network.
      const auto after = std::upper_bound(timed.begin(), timed.end(), position);
      const auto matrix = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - timed.begin() - 1));
      const std::size_t stand_in = layer_at_same_depth(matrix, timed.size(), learned.size());
      const auto group = group_of.find(static_cast<std::int32_t>(stand_in));
      if (group == group_of.end()) throw std::logic_error("a sweep over layers lacks a layer");
      const Place place{static_cast<std::int32_t>(position), static_cast<std::int32_t>(learned[stand_in]),
                        sweep.embeddings};
      const auto table = tables_.find(&layer);
      for (const Op& op : group->second->ops) {
        const auto* compute = std::get_if<ComputeOp>(&op.what);
        const bool every_layer = compute != nullptr && compute->every_layer;
        if (!takes_part(layer, sweep.embeddings) && !every_layer) continue;
        if (compute != nullptr && compute->except_first_layer && position == 0) continue;
        emit(op, {table == tables_.end() || every_layer ? &layer : &table->second}, place);
      }
    }
  }

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
      sum += expression.evaluate({layer, &sizes_, worker, sums_of(layer)});
    }
    return sum;
  }

  /// Sums over workers are the same for every worker: they are worked out once per op and layer.
  KnownSums* sums_of(const spec::LayerShape* layer) const { return &sums_[layer]; }

  template <class Value>
  PerWorker per_participant(Role who, Value&& value) const {
    if (who == Role::aggregator) return PerWorker({value(-1)});
    std::vector<double> values;
    values.reserve(schedule_.workers);
    for (std::size_t worker = 0; worker < schedule_.workers; ++worker)
      values.push_back(value(static_cast<std::int32_t>(worker)));
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

  void emit(const Op& op, const std::vector<const spec::LayerShape*>& layers, const Place& place) {
    sums_.clear();
    Task task;
    task.layer = layers.size() == 1 ? layers.front()->name : "other layers";
    if (const auto* compute = std::get_if<ComputeOp>(&op.what)) {
      const auto cost = [&](Expression Work::*part) {
        return per_participant(compute->who, [&](std::int32_t worker) {
          return evaluate(cheapest(*compute, layers, worker).*part, layers, worker);
        });
      };
      ComputeTask sized{compute->phase, compute->who, cost(&Work::flops),
                        cost(&Work::bytes_moved).scaled(compute->phase == Phase::update ? 1 : narrower_),
                        cost(&Work::launches)};
      describe_layer(layers, sized);
      task.what = std::move(sized);
      schedule_.uses_aggregator |= compute->who == Role::aggregator;
    } else if (const auto* collective = std::get_if<CollectiveOp>(&op.what)) {
      const Role sender = collective->kind == CollectiveKind::broadcast ? Role::aggregator : Role::workers;
      CollectiveTask sized;
      sized.kind = collective->kind;
      sized.neighbours = collective->neighbours;
      sized.bytes = per_participant(sender, [&](std::int32_t worker) {
        double bytes = 0;
        for (const Payload& payload : collective->payload) {
          if (payload.last_layer_only && layers.back() != last_matrix_layer()) continue;
          for (const spec::LayerShape* layer : layers) {
            bytes += wire_bytes(payload, {layer, &sizes_, worker, sums_of(layer)});
          }
        }
        return bytes;
      });
      // Nobody has anything to say (a layer without the parameters it is for): nobody says it.
      if (sized.bytes == PerWorker()) {
        task_of_[{op.serial, place.timed}] = kNothing;
        return;
      }
      task.what = std::move(sized);
      schedule_.uses_aggregator |= is_star(collective->kind);
      task_of_[{op.serial, place.timed}] = static_cast<std::int32_t>(schedule_.tasks.size());
    } else {
      const auto& wait = std::get<WaitOp>(op.what);
      const auto found = task_of_.find({wait.collective, awaited_at(wait.collective, place)});
      if (found == task_of_.end()) throw std::logic_error("a wait for a collective that was not recorded before it");
      if (found->second == kNothing) return;
      task.what = WaitTask{wait.who, found->second};
    }
    schedule_.tasks.push_back(std::move(task));
  }

  static constexpr std::int32_t kNothing = -1;  ///< a collective that was left out

  const StepStructure& structure_;
  const spec::ModelShape& timed_;
  StepSizes sizes_;
  std::array<Positions, 2> learned_positions_;  ///< of the layers of a sweep without and with tables
  std::array<Positions, 2> timed_positions_;
  bool embeddings_apart_ = false;  ///< some sweep goes over tables
  std::map<const spec::LayerShape*, spec::LayerShape> tables_,
      rests_;  ///< a table's layer → the table, and what is beside it
  mutable std::map<const spec::LayerShape*, KnownSums> sums_;
  Schedule schedule_;
  double narrower_ = 1;                               ///< bytes of a float ÷ those in fp32
  std::map<std::int32_t, std::int32_t> recorded_at_;  ///< serial → position in the learned network
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> task_of_;  ///< (serial, timed position) → task
};

}  // namespace

PerWorker::PerWorker(std::vector<double> values) : values_(std::move(values)) {
  if (values_.empty()) throw std::invalid_argument("no values");
  if (std::adjacent_find(values_.begin(), values_.end(), std::not_equal_to<>()) == values_.end()) values_.resize(1);
}

bool CollectiveTask::operator==(const CollectiveTask& other) const {
  return kind == other.kind && bytes == other.bytes && algorithm == other.algorithm &&
         same_graph(neighbours, other.neighbours);
}

PerWorker PerWorker::scaled(double factor) const {
  PerWorker result = *this;
  for (double& value : result.values_) value *= factor;
  return result;
}

bool has_barrier(const Schedule& schedule) {
  bool exchanges = false;
  for (const Task& task : schedule.tasks) {
    const auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (collective->kind != CollectiveKind::neighbour_exchange) return true;
    exchanges = true;
  }
  return !exchanges;
}

Schedule repeated(const Schedule& schedule, std::size_t count) {
  Schedule result{schedule.workers, schedule.uses_aggregator, {}, schedule.precision};
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

Schedule instantiate(const StepStructure& structure, const StepSizes& sizes, const spec::ModelShape& learned,
                     const spec::ModelShape& timed, double sample_scale, spec::Precision precision) {
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision).run();
}

}  // namespace dadsim::step
