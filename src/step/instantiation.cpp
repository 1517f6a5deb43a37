#include "step/instantiation.hpp"

#include <cmath>

namespace dadsim::step {

bool takes_part(const spec::LayerShape& layer, bool embeddings) {
  return embeddings ? layer.has_matrix() : layer.has_outer_product();
}

Positions positions_of(const spec::ModelShape& model, bool embeddings) {
  Positions positions;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (takes_part(model.layers[i], embeddings)) positions.push_back(i);
  }
  return positions;
}

spec::LayerShape embedding_alone(spec::LayerShape layer) {
  layer.parameters = layer.in * layer.out;
  layer.bias = false;
  return layer;
}

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
  const auto number = [scale](std::int32_t samples) {
    return samples > 0 ? static_cast<std::int32_t>(std::max(1.0, std::round(samples * scale))) : samples;
  };
  std::ranges::transform(scaled.samples, scaled.samples.begin(), number);
  for (auto& earlier : scaled.earlier) std::ranges::transform(earlier, earlier.begin(), number);
  return scaled;
}

std::vector<LayerCosts> Instantiation::costs(const Price& price) {
  std::vector<LayerCosts> all;
  for (std::size_t i = 0; i < timed_positions_[0].size(); ++i) {
    const Positions& timed = timed_positions_[0];
    const std::size_t stand_in = layer_at_same_depth(i, timed.size(), learned_positions_[0].size());
    all.push_back({timed[i], {}, i + 1 < timed.size() && chained(timed[i], timed[i + 1])});
    for (std::size_t a = 0; a < structure_.choices.alternatives.size(); ++a) {
      all.back().costs.push_back(((structure_.choices.offered.at(stand_in) >> a) & 1) != 0 ? 0 : kNever);
    }
    for (const Sweep& sweep : structure_.sweeps) {
      for (const Group& group : sweep.groups) {
        if (group.layer == static_cast<std::int32_t>(stand_in)) add_costs(group, timed[i], price, all.back().costs);
      }
    }
  }
  return all;
}

void Instantiation::add_costs(const Group& group, std::size_t position, const Price& price,
                              std::vector<double>& costs) {
  for (const Op& op : group.ops) {
    const auto* compute = std::get_if<ComputeOp>(&op.what);
    if (op.only_in == 0 || std::holds_alternative<WaitOp>(op.what)) continue;
    if (compute != nullptr && compute->except_first_layer && position == 0) continue;
    size_after(learned_position(group.layer, false));
    const double cost = price(sized(op, {&timed_.layers[position]}), schedule_.workers);
    for (std::size_t a = 0; a < costs.size(); ++a) {
      if (((op.only_in >> a) & 1) != 0) costs[a] += cost;
    }
  }
}

void Instantiation::expand_in_buckets(std::span<const Sweep> sweeps) {
  const auto first_stage = static_cast<std::size_t>(
      std::ranges::find_if(sweeps, [](const Sweep& s) { return s.stage > 0; }) - sweeps.begin());
  const std::span<const Sweep> all_stages = sweeps.subspan(first_stage);
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
    const auto table = tables_.find(&layer);
    buckets.back().push_back(position);
    bytes += 4.0 * narrower_ * static_cast<double>((table == tables_.end() ? layer : table->second).parameters);
    if (bytes < (buckets.size() == 1 ? std::min(buckets_.first, buckets_.bytes) : buckets_.bytes)) continue;
    buckets.emplace_back();
    bytes = 0;
    stages_behind(buckets.size() - 2);
  }
  for (std::size_t i = 1; i < first_stage; ++i) expand(sweeps[i]);
  // What is left: the last bucket, and the later stages of those before it.
  const bool open = !buckets.back().empty();
  if (open) buckets.emplace_back();
  for (std::size_t newest = buckets.size() - (open ? 2 : 1); newest < buckets.size() + sweeps.size(); ++newest)
    stages_behind(newest);
}

void Instantiation::emit_stage(const Sweep& sweep, const Positions& bucket) {
  merged_.emplace(Merged{});
  for (const std::size_t position : bucket) {
    merged_->next = 0;
    expand_layer(sweep, position);
  }
  Merged merged = std::move(*std::exchange(merged_, std::nullopt));
  for (auto& [task, members] : merged.messages) {
    for (const auto& member : members) task_of_[member] = static_cast<std::int32_t>(schedule_.tasks.size());
    schedule_.tasks.push_back(std::move(task));
  }
}

const WorkerClasses& Instantiation::classes_in(const Op& op) const {
  const auto [known, added] = classes_of_op_.try_emplace(&op, nullptr);
  if (!added) return *known->second;
  Numbers numbers;
  if (const auto* compute = std::get_if<ComputeOp>(&op.what)) {
    for (const Work& branch : compute->branches) {
      for (const Expression* part : {&branch.flops, &branch.bytes_moved, &branch.launches}) part->collect(numbers);
    }
  } else if (const auto* collective = std::get_if<CollectiveOp>(&op.what)) {
    for (const Payload& payload : collective->payload) payload.elements.collect(numbers);
  }
  const auto [place, first] = classes_by_.try_emplace(numbers);
  if (first) place->second = worker_classes(recorded_, numbers);
  return *(known->second = &place->second);
}

Task Instantiation::sized(const Op& op, const std::vector<const spec::LayerShape*>& layers) const {
  classes_ = &classes_in(op);
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
    sized.of_pass = of_pass_.contains(op.serial);
    task.what = std::move(sized);
    return task;
  }
  const auto& collective = std::get<CollectiveOp>(op.what);
  const Role sender = collective.kind == CollectiveKind::broadcast ? Role::aggregator : Role::workers;
  CollectiveTask sized;
  sized.kind = collective.kind;
  sized.neighbours = collective.neighbours;
  sized.bytes = per_participant(sender, [&](std::int32_t worker) {
    double bytes = 0;
    for (const Payload& payload : collective.payload) {
      for (const spec::LayerShape* layer : layers) {
        bytes += wire_bytes(payload, scope_of(layer, worker));
      }
    }
    return bytes;
  });
  task.what = std::move(sized);
  return task;
}

void Instantiation::emit(const Op& op, const std::vector<const spec::LayerShape*>& layers, const Place& place) {
  size_after(place.learned);
  if (const auto* wait = std::get_if<WaitOp>(&op.what)) {
    const auto found = task_of_.find({wait->collective, awaited_at(wait->collective, place)});
    // What another stage has sent is its own to wait for.
    if (found == task_of_.end() && only_.end - only_.first < timed_.layers.size()) return;
    if (found == task_of_.end()) throw std::logic_error("a wait for a collective that was not recorded before it");
    if (found->second == kNothing) return;
    if (merged_ && !merged_->waited.insert(found->second).second) return;
    schedule_.tasks.push_back(
        {layers.size() == 1 ? layers.front()->name : "other layers", WaitTask{wait->who, found->second}});
    return;
  }
  Task task = sized(op, layers);
  if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
    schedule_.uses_aggregator |= compute->who == Role::aggregator;
  } else {
    const auto& collective = std::get<CollectiveTask>(task.what);
    const std::size_t message = merged_ ? merged_->next++ : 0;
    // Nobody has anything to say (a layer without the parameters it is for): nobody says it.
    if (collective.bytes == PerWorker()) {
      task_of_[{op.serial, place.timed}] = kNothing;
      return;
    }
    schedule_.uses_aggregator |= is_star(collective.kind);
    if (merged_) {
      merged_->add(message, std::move(task), {op.serial, place.timed});
      return;
    }
    task_of_[{op.serial, place.timed}] = static_cast<std::int32_t>(schedule_.tasks.size());
  }
  schedule_.tasks.push_back(std::move(task));
}

}  // namespace dadsim::step
