#include "study/layout/step_estimate.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "sim/device.hpp"
#include "spec/device_part.hpp"
#include "spec/kept_activations.hpp"
#include "spec/precision.hpp"
#include "spec/stages.hpp"
#include "study/layout/by_flow.hpp"

namespace dadsim::study {
namespace {

/// Share of a backward pass that gradient sums can overlap. The first sum starts after the first gradient, and the last
/// one ends after the pass.
constexpr double kHidden = 0.9;

double rows_of(const spec::LayerShape& layer, std::int64_t micro_batch) {
  return static_cast<double>(layer.rows_per_sample) * static_cast<double>(micro_batch);
}

bool is_column(const spec::LayerShape& layer) {
  return layer.split == spec::TensorSplit::column ||
         (layer.split == spec::TensorSplit::vocabulary && layer.kind == spec::LayerKind::dense);
}

bool sums_outputs(const spec::LayerShape& layer) {
  return layer.split == spec::TensorSplit::row ||
         (layer.split == spec::TensorSplit::vocabulary && layer.kind == spec::LayerKind::embedding);
}

std::tuple<std::int32_t, std::int32_t, std::int32_t> divided_as(const report::Layout& layout) {
  return {layout.how.tensor, layout.how.context, layout.how.experts};
}

}  // namespace

/// Returns the shape of one device's network, cached for all layouts with the same division.
const spec::ModelShape& StepEstimate::parts_of(const report::Layout& layout) {
  const Division division = divided_as(layout);
  const auto known = parts_.find(division);
  if (known != parts_.end()) return known->second;
  return parts_.emplace(division, with_parts_of(timed_.shape, layout)).first->second;
}

const StepEstimate::Layers& StepEstimate::layers_of(const report::Layout& layout, std::int64_t micro_batch) {
  const auto key = std::pair(divided_as(layout), micro_batch);
  if (const auto known = layers_.find(key); known != layers_.end()) return known->second;
  const std::int32_t tensor = layout.how.tensor;
  const spec::ModelShape& undivided = parts_of(layout);
  const spec::ModelShape part = spec::sharded(undivided, tensor);
  const std::size_t count = part.layers.size();
  const double element = spec::bytes_per_element(timed_.precision);
  Layers layers;
  for (std::vector<double>* one :
       {&layers.forward, &layers.backward, &layers.weights, &layers.update, &layers.sums_forward, &layers.sums_backward,
        &layers.gradient_bytes, &layers.expert_bytes})
    one->assign(count, 0);
  std::map<std::string, std::size_t, std::less<>> position;
  for (std::size_t i = 0; i < count; ++i) position[part.layers[i].name] = i;
  const schedule::Schedule schedule = plain_.of(part, micro_batch, timed_.precision);
  for (const schedule::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute == nullptr) continue;
    const auto found = position.find(task.layer);
    const std::size_t layer = found == position.end() ? count - 1 : found->second;
    std::vector<double>& seconds = compute->phase == step::Phase::forward  ? layers.forward
                                   : compute->phase == step::Phase::update ? layers.update
                                                                           : layers.backward;
    const double own = sim::seconds_on(device_, *compute, 0, timed_.precision);
    seconds[layer] += own;
    if (compute->phase == step::Phase::weight_gradient) layers.weights[layer] += own;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const spec::LayerShape& own = part.layers[i];
    const spec::LayerShape& whole = undivided.layers[i];
    const bool shares_experts = own.expert_group > 1;
    (shares_experts ? layers.expert_bytes : layers.gradient_bytes)[i] =
        element * timed_.gradient_width * static_cast<double>(own.parameters);
    if (tensor == 1) continue;
    if (own.split == spec::TensorSplit::whole && !shares_experts) {  // divided along the sequence
      layers.forward[i] /= tensor;
      layers.backward[i] /= tensor;
      layers.weights[i] /= tensor;
    }
    const auto sum = [&](double bytes) { return groups_.all_reduce(static_cast<std::size_t>(tensor), 1, bytes); };
    if (sums_outputs(whole))
      layers.sums_forward[i] = sum(element * static_cast<double>(micro_batch) * whole.outputs_per_sample);
    const bool first_of_group = is_column(whole) && (i == 0 || !is_column(undivided.layers[i - 1]));
    if (first_of_group)
      layers.sums_backward[i] = sum(element * rows_of(whole, micro_batch) * static_cast<double>(whole.in));
  }
  add_handed_over(layout, micro_batch, layers);
  return layers_.emplace(key, std::move(layers)).first->second;
}

/// Adds the seconds of messages inside a pass: keys and values of the other parts of a sequence, and rows for experts
/// on other devices (step::Piece).
void StepEstimate::add_handed_over(const report::Layout& layout, std::int64_t micro_batch, Layers& layers) {
  const spec::ParallelismSpec& how = layout.how;
  const spec::ModelShape& part = parts_of(layout);
  const double element = spec::bytes_per_element(timed_.precision);
  const bool ring = how.context_exchange == spec::ContextExchange::ring;
  const auto exposed = [&](double seconds, double beside) { return ring ? std::max(0.0, seconds - beside) : seconds; };
  const auto has_experts = [&](std::size_t i) { return i < part.layers.size() && part.layers[i].expert_group > 1; };
  for (std::size_t i = 0; i < part.layers.size(); ++i) {
    const spec::LayerShape& layer = part.layers[i];
    if (how.context > 1 && layer.kind == spec::LayerKind::attention) {
      const double all =
          element * rows_of(layer, micro_batch) * static_cast<double>(layer.keys_and_values) / how.tensor * how.context;
      const double gather =
          groups_.all_reduce(static_cast<std::size_t>(how.context), static_cast<std::size_t>(how.tensor), all) / 2;
      layers.sums_forward[i] += exposed(gather, layers.forward[i]);
      layers.sums_backward[i] += exposed(2 * gather, layers.backward[i]);
    }
    if (!has_experts(i)) continue;
    const auto there_or_back = [&](std::int64_t width) {
      return groups_.all_to_all(
          static_cast<std::size_t>(how.experts),
          element * rows_of(layer, micro_batch) * static_cast<double>(width) / layer.expert_group);
    };
    double seconds = 0;
    if (i == 0 || !has_experts(i - 1)) seconds += there_or_back(layer.in);
    if (!has_experts(i + 1)) seconds += there_or_back(layer.out);
    layers.sums_forward[i] += seconds;
    layers.sums_backward[i] += seconds;
  }
}

const std::vector<spec::LayerRange>& StepEstimate::pieces_of(const report::Layout& layout, std::size_t pieces) {
  const auto key = std::pair(divided_as(layout), pieces);
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  return pieces_.emplace(key, spec::pieces_of(spec::sharded(parts_of(layout), layout.how.tensor), pieces))
      .first->second;
}

const StepEstimate::EstimatedStage& StepEstimate::slowest_stage(const report::Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  const std::int64_t micro = how.micro_batch > 0 ? how.micro_batch : layout.batch;
  const StageKey key{
      divided_as(layout), how.pipeline,         how.interleave,        micro,
      how.recomputation,  how.recomputed_parts, how.sequence_parallel, how.order == spec::PipelineOrder::dualpipe_v};
  if (const auto known = stages_.find(key); known != stages_.end()) return known->second;
  const Layers& layers = layers_of(layout, micro);
  const auto stages = static_cast<std::size_t>(how.pipeline);
  const std::vector<spec::LayerRange>& pieces = pieces_of(layout, stages * static_cast<std::size_t>(how.interleave));
  EstimatedStage slowest;
  for (std::size_t s = 0; s < stages; ++s) {
    EstimatedStage stage;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (how.stage_of(static_cast<std::int32_t>(p)) != static_cast<std::int32_t>(s)) continue;
      for (std::size_t i = pieces[p].first; i < pieces[p].end; ++i) {
        const bool again = spec::is_computed_again(timed_.shape, i, how);
        stage.forward += layers.forward[i];
        stage.backward += layers.backward[i] + (again ? layers.forward[i] : 0);
        stage.weights += layers.weights[i];
        stage.update += layers.update[i];
        stage.gradient_bytes += layers.gradient_bytes[i];
        stage.expert_bytes += layers.expert_bytes[i];
        // Norms divided along the sequence need one more all-gather in the backward pass.
        const double extra = how.sequence_parallel ? 1.5 : 1;
        stage.sums += layers.sums_forward[i] * (again ? 2 : 1) + layers.sums_backward[i] * extra;
      }
    }
    if (s == 0 || stage.seconds() > slowest.seconds()) slowest = stage;
  }
  return stages_.emplace(key, slowest).first->second;
}

double StepEstimate::exchange_of(const report::Layout& layout, const EstimatedStage& stage, double micro_batches) {
  const auto replicas = static_cast<std::size_t>(layout.replicas * layout.how.context);
  if (replicas < 2 || !run_.communicates) return 0;
  const auto stride = static_cast<std::size_t>(layout.how.tensor);
  double both = groups_.all_reduce(replicas, stride, stage.gradient_bytes);
  if (stage.expert_bytes > 0) {
    const auto group = static_cast<std::size_t>(layout.how.experts);
    both += groups_.all_reduce(replicas * stride / group, group, stage.expert_bytes);
  }
  double scatter = both / 2;
  double gather = both / 2 / timed_.gradient_width;
  double among_groups = 0;  // seconds of the sum among sharding groups
  if (layout.how.sharding_group > 0) {
    const auto group = static_cast<std::size_t>(layout.how.sharding_group);
    const double inside = groups_.all_reduce(group, stride, stage.gradient_bytes + stage.expert_bytes);
    scatter = inside / 2;
    gather = inside / 2 / timed_.gradient_width;
    among_groups = groups_.all_reduce(replicas / group, stride * group,
                                      (stage.gradient_bytes + stage.expert_bytes) / static_cast<double>(group));
  }
  const auto exposed = [](double seconds, double beside) {
    return std::max(seconds - kHidden * beside, 0.05 * seconds);
  };
  switch (layout.how.sharding) {
    case spec::Sharding::none:
      return exposed(both, stage.backward);
    case spec::Sharding::optimizer:
      return exposed(scatter + among_groups, stage.backward) + gather;
    case spec::Sharding::gradients:
      return exposed(micro_batches * (scatter + among_groups), micro_batches * stage.backward) + gather;
    case spec::Sharding::parameters:
      return exposed(micro_batches * (2 * gather + scatter + among_groups),
                     micro_batches * (stage.forward + stage.backward));
  }
  return both;
}

report::StepParts StepEstimate::of(const report::Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  const std::int64_t micro = how.micro_batch > 0 ? how.micro_batch : layout.batch;
  const auto micro_batches = static_cast<double>(layout.batch) / static_cast<double>(micro);
  const EstimatedStage& stage = slowest_stage(layout);
  const double shards = how.sharding == spec::Sharding::none ? 1
                        : how.sharding_group > 0             ? how.sharding_group
                                                             : static_cast<double>(layout.replicas);
  report::StepParts parts;
  parts.computing = micro_batches * (stage.forward + stage.backward) + stage.update / shards;
  parts.tensor = micro_batches * stage.sums;
  const bool waits = how.order == spec::PipelineOrder::zero_bubble || how.order == spec::PipelineOrder::dualpipe_v;
  parts.bubble = waits ? (how.pipeline - 1.0) * std::max(0.0, stage.seconds() - 2 * stage.weights)
                       : (how.pipeline - 1.0) / how.interleave * stage.seconds();
  parts.exchange = exchange_of(layout, stage, micro_batches);
  return parts;
}

}  // namespace dadsim::study
