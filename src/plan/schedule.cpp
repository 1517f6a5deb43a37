#include "plan/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

namespace dadsim {
namespace {

std::vector<std::size_t> matrix_layers(const ModelShape& model) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].has_outer_product()) positions.push_back(i);
  }
  return positions;
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
  Instantiation(const StepStructure& structure, const StepSizes& sizes, const ModelShape& learned,
                const ModelShape& timed, double sample_scale)
      : structure_(structure),
        timed_(timed),
        sizes_(scale_samples(sizes, sample_scale)),
        learned_count_(matrix_layers(learned).size()),
        matrix_positions_(matrix_layers(timed)) {
    if (learned_count_ == 0 || matrix_positions_.empty())
      throw std::invalid_argument("a network without matrix layers");
    schedule_.workers = sizes_.samples.size();
    for (const Sweep& sweep : structure_.sweeps) {
      for (const Group& group : sweep.groups) {
        for (const Op& op : group.ops) recorded_layer_[op.serial] = group.layer;
      }
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
  const LayerShape* last_matrix_layer() const { return &timed_.layers[matrix_positions_.back()]; }

  std::vector<const LayerShape*> other_layers() const {
    std::vector<const LayerShape*> layers;
    for (const LayerShape& layer : timed_.layers) {
      if (!layer.has_outer_product() && layer.parameters > 0) layers.push_back(&layer);
    }
    return layers;
  }

  void expand_layers(const Sweep& sweep, bool backward) {
    std::map<std::int32_t, const Group*> group_of;
    for (const Group& group : sweep.groups) group_of[group.layer] = &group;
    const std::size_t count = timed_.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t position = backward ? count - 1 - i : i;
      const LayerShape& layer = timed_.layers[position];
      // Layers without a matrix follow the recipe of the matrix layer before them, in the order of the network.
      const auto after = std::upper_bound(matrix_positions_.begin(), matrix_positions_.end(), position);
      const auto matrix = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - matrix_positions_.begin() - 1));
      const std::size_t stand_in = layer_at_same_depth(matrix, matrix_positions_.size(), learned_count_);
      const auto group = group_of.find(static_cast<std::int32_t>(stand_in));
      if (group == group_of.end()) throw std::logic_error("a sweep over layers lacks a layer");
      for (const Op& op : group->second->ops) {
        const auto* compute = std::get_if<ComputeOp>(&op.what);
        const bool every_layer = compute != nullptr && compute->every_layer;
        if (!layer.has_outer_product() && !every_layer) continue;
        if (compute != nullptr && compute->except_first_layer && position == 0) continue;
        emit(op, {&layer}, layer.has_outer_product() ? static_cast<std::int32_t>(matrix) : -1,
             static_cast<std::int32_t>(stand_in));
      }
    }
  }

  void expand_once(const Sweep& sweep, const std::vector<const LayerShape*>& layers) {
    if (layers.empty()) return;
    for (const Group& group : sweep.groups) {
      for (const Op& op : group.ops) emit(op, layers, -1, -1);
    }
  }

  double evaluate(const Expression& expression, const std::vector<const LayerShape*>& layers,
                  std::int32_t worker) const {
    double sum = 0;
    for (const LayerShape* layer : layers) sum += expression.evaluate({layer, &sizes_, worker});
    return sum;
  }

  template <class Value>
  PerWorker per_participant(Role who, Value&& value) const {
    if (who == Role::aggregator) return PerWorker({value(-1)});
    std::vector<double> values;
    values.reserve(schedule_.workers);
    for (std::size_t worker = 0; worker < schedule_.workers; ++worker)
      values.push_back(value(static_cast<std::int32_t>(worker)));
    return PerWorker(std::move(values));
  }

  const Work& cheapest(const ComputeOp& op, const std::vector<const LayerShape*>& layers, std::int32_t worker) const {
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

  void emit(const Op& op, const std::vector<const LayerShape*>& layers, std::int32_t matrix,
            std::int32_t learned_layer) {
    Task task;
    task.layer = layers.size() == 1 ? layers.front()->name : "other layers";
    if (const auto* compute = std::get_if<ComputeOp>(&op.what)) {
      const auto cost = [&](Expression Work::*part) {
        return per_participant(compute->who, [&](std::int32_t worker) {
          return evaluate(cheapest(*compute, layers, worker).*part, layers, worker);
        });
      };
      task.what = ComputeTask{compute->phase, compute->who, cost(&Work::flops), cost(&Work::bytes_moved),
                              cost(&Work::launches)};
      schedule_.uses_aggregator |= compute->who == Role::aggregator;
    } else if (const auto* collective = std::get_if<CollectiveOp>(&op.what)) {
      const Role sender = collective->kind == CollectiveKind::broadcast ? Role::aggregator : Role::workers;
      CollectiveTask sized;
      sized.kind = collective->kind;
      sized.bytes = per_participant(sender, [&](std::int32_t worker) {
        double bytes = 0;
        for (const Payload& payload : collective->payload) {
          if (payload.last_layer_only && layers.back() != last_matrix_layer()) continue;
          for (const LayerShape* layer : layers) bytes += payload.bytes({layer, &sizes_, worker});
        }
        return bytes;
      });
      // Nobody has anything to say (a layer without the parameters it is for): nobody says it.
      if (sized.bytes == PerWorker()) {
        task_of_[{op.serial, matrix}] = nothing;
        return;
      }
      task.what = std::move(sized);
      schedule_.uses_aggregator |=
          collective->kind == CollectiveKind::gather || collective->kind == CollectiveKind::broadcast;
      task_of_[{op.serial, matrix}] = static_cast<std::int32_t>(schedule_.tasks.size());
    } else {
      const auto& wait = std::get<WaitOp>(op.what);
      const std::int32_t recorded = recorded_layer_.at(wait.collective);
      std::int32_t awaited = recorded < 0 ? -1 : matrix;
      // A wait at one layer for the collective of another keeps its distance in layers.
      if (recorded >= 0 && learned_layer >= 0) awaited += recorded - learned_layer;
      const auto found = task_of_.find({wait.collective, awaited});
      if (found == task_of_.end()) throw std::logic_error("a wait for a collective that was not recorded before it");
      if (found->second == nothing) return;
      task.what = WaitTask{wait.who, found->second};
    }
    schedule_.tasks.push_back(std::move(task));
  }

  static constexpr std::int32_t nothing = -1;  ///< a collective that was left out

  const StepStructure& structure_;
  const ModelShape& timed_;
  StepSizes sizes_;
  std::size_t learned_count_;
  std::vector<std::size_t> matrix_positions_;
  Schedule schedule_;
  std::map<std::int32_t, std::int32_t> recorded_layer_;                    ///< serial → learned layer
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> task_of_;  ///< (serial, timed matrix layer) → task
};

}  // namespace

PerWorker::PerWorker(std::vector<double> values) : values_(std::move(values)) {
  if (values_.empty()) throw std::invalid_argument("no values");
  if (std::adjacent_find(values_.begin(), values_.end(), std::not_equal_to<>()) == values_.end()) values_.resize(1);
}

std::size_t layer_at_same_depth(std::size_t timed, std::size_t timed_layers, std::size_t learned_layers) {
  if (timed >= timed_layers || learned_layers == 0) throw std::invalid_argument("no such layer");
  if (timed_layers == 1) return learned_layers - 1;
  const double depth = static_cast<double>(timed) / static_cast<double>(timed_layers - 1);
  return static_cast<std::size_t>(std::lround(depth * static_cast<double>(learned_layers - 1)));
}

Schedule instantiate(const StepStructure& structure, const StepSizes& sizes, const ModelShape& learned,
                     const ModelShape& timed, double sample_scale) {
  return Instantiation(structure, sizes, learned, timed, sample_scale).run();
}

}  // namespace dadsim
