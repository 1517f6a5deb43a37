#include "study/layout/step_estimate.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "sim/device.hpp"
#include "spec/precision.hpp"
#include "spec/stages.hpp"
#include "spec/tensor_parallel.hpp"

namespace dadsim::study {
namespace {

/// Share of a backward pass that sums of gradients can go on beside: it has to be begun, and the last sum comes last.
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

}  // namespace

const StepEstimate::Layers& StepEstimate::layers_of(std::int32_t tensor, std::int64_t micro_batch) {
  const auto key = std::pair(tensor, micro_batch);
  if (const auto known = layers_.find(key); known != layers_.end()) return known->second;
  const spec::ModelShape part = spec::sharded(timed_.shape, tensor);
  const std::size_t count = part.layers.size();
  const double element = spec::bytes_per_element(timed_.precision);
  Layers layers;
  for (std::vector<double>* one : {&layers.forward, &layers.backward, &layers.update, &layers.sums_forward,
                                   &layers.sums_backward, &layers.gradient_bytes})
    one->assign(count, 0);
  std::map<std::string, std::size_t, std::less<>> position;
  for (std::size_t i = 0; i < count; ++i) position[part.layers[i].name] = i;
  const step::Schedule schedule = plain_.of(part, micro_batch, timed_.precision);
  for (const step::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<step::ComputeTask>(&task.what);
    if (compute == nullptr) continue;
    const auto found = position.find(task.layer);
    const std::size_t layer = found == position.end() ? count - 1 : found->second;
    std::vector<double>& seconds = compute->phase == step::Phase::forward  ? layers.forward
                                   : compute->phase == step::Phase::update ? layers.update
                                                                           : layers.backward;
    seconds[layer] += sim::seconds_on(device_, *compute, 0, timed_.precision);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const spec::LayerShape& own = part.layers[i];
    const spec::LayerShape& whole = timed_.shape.layers[i];
    layers.gradient_bytes[i] = element * timed_.gradient_width * static_cast<double>(own.parameters);
    if (tensor == 1) continue;
    if (own.split == spec::TensorSplit::whole) {  // along the sequence
      layers.forward[i] /= tensor;
      layers.backward[i] /= tensor;
    }
    const auto sum = [&](double bytes) { return groups_.all_reduce(static_cast<std::size_t>(tensor), 1, bytes); };
    if (sums_outputs(whole))
      layers.sums_forward[i] = sum(element * static_cast<double>(micro_batch) * whole.outputs_per_sample);
    const bool first_of_group = is_column(whole) && (i == 0 || !is_column(timed_.shape.layers[i - 1]));
    if (first_of_group)
      layers.sums_backward[i] = sum(element * rows_of(whole, micro_batch) * static_cast<double>(whole.in));
  }
  return layers_.emplace(key, std::move(layers)).first->second;
}

const std::vector<spec::LayerRange>& StepEstimate::pieces_of(std::int32_t tensor, std::size_t pieces) {
  const auto key = std::pair(tensor, pieces);
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  return pieces_.emplace(key, spec::pieces_of(spec::sharded(timed_.shape, tensor), pieces)).first->second;
}

const StepEstimate::Stage& StepEstimate::slowest_stage(const report::Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  const std::int64_t micro = how.micro_batch > 0 ? how.micro_batch : layout.batch;
  const StageKey key{how.tensor, how.pipeline, how.interleave, micro, how.recomputation, how.sequence_parallel};
  if (const auto known = stages_.find(key); known != stages_.end()) return known->second;
  const Layers& layers = layers_of(how.tensor, micro);
  const auto stages = static_cast<std::size_t>(how.pipeline);
  const std::vector<spec::LayerRange>& pieces =
      pieces_of(how.tensor, stages * static_cast<std::size_t>(how.interleave));
  const bool full = how.recomputation == spec::Recomputation::full;
  Stage slowest;
  for (std::size_t s = 0; s < stages; ++s) {
    Stage stage;
    for (std::size_t p = s; p < pieces.size(); p += stages) {
      for (std::size_t i = pieces[p].first; i < pieces[p].end; ++i) {
        const spec::LayerShape& layer = timed_.shape.layers[i];
        const bool again =
            full ? !spec::block_of(layer.name).empty()
                 : how.recomputation == spec::Recomputation::selective && layer.kind == spec::LayerKind::attention;
        stage.forward += layers.forward[i];
        stage.backward += layers.backward[i] + (again ? layers.forward[i] : 0);
        stage.update += layers.update[i];
        stage.gradient_bytes += layers.gradient_bytes[i];
        // An all-gather more in the backward pass, where norms are divided along the sequence.
        const double extra = how.sequence_parallel ? 1.5 : 1;
        stage.sums += layers.sums_forward[i] * (again ? 2 : 1) + layers.sums_backward[i] * extra;
      }
    }
    if (s == 0 || stage.seconds() > slowest.seconds()) slowest = stage;
  }
  return stages_.emplace(key, slowest).first->second;
}

double StepEstimate::exchange_of(const report::Layout& layout, const Stage& stage, double micro_batches) {
  const auto replicas = static_cast<std::size_t>(layout.replicas);
  if (replicas < 2 || !run_.communicates) return 0;
  const auto stride = static_cast<std::size_t>(layout.how.tensor);
  const double both = groups_.all_reduce(replicas, stride, stage.gradient_bytes);
  const double scatter = both / 2;
  const double gather = both / 2 / timed_.gradient_width;
  const auto exposed = [](double seconds, double beside) {
    return std::max(seconds - kHidden * beside, 0.05 * seconds);
  };
  switch (layout.how.sharding) {
    case spec::Sharding::none:
      return exposed(both, stage.backward);
    case spec::Sharding::optimizer:
      return exposed(scatter, stage.backward) + gather;
    case spec::Sharding::gradients:
      return exposed(micro_batches * scatter, micro_batches * stage.backward) + gather;
    case spec::Sharding::parameters:
      return exposed(micro_batches * (2 * gather + scatter), micro_batches * (stage.forward + stage.backward));
  }
  return both;
}

report::StepParts StepEstimate::of(const report::Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  const std::int64_t micro = how.micro_batch > 0 ? how.micro_batch : layout.batch;
  const auto micro_batches = static_cast<double>(layout.batch) / static_cast<double>(micro);
  const Stage& stage = slowest_stage(layout);
  const double shards = how.sharding == spec::Sharding::none ? 1 : static_cast<double>(layout.replicas);
  report::StepParts parts;
  parts.computing = micro_batches * (stage.forward + stage.backward) + stage.update / shards;
  parts.tensor = micro_batches * stage.sums;
  parts.bubble = (how.pipeline - 1.0) / how.interleave * stage.seconds();
  parts.exchange = exchange_of(layout, stage, micro_batches);
  return parts;
}

}  // namespace dadsim::study
