#include "schedule/op_sizing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace dadsim::schedule {
namespace {

/// Adds the bytes per output number that kernels after a dense layer move, in 16 bit, each operand once.
void add_passes(const spec::LayerShape& layer, KernelShape& shape) {
  const double outputs = layer.outputs_per_sample;
  if (layer.kept_bytes_per_sample >= 4 * outputs) {
    // Class scores are kept in fp32. Forward: conversion to fp32 and softmax. Backward: softmax and conversion to 16
    // bit.
    shape.passed_forward = (2 + 4) + (4 + 4);
    shape.passed_back = (4 + 4) + (4 + 2);
    return;
  }
  if (layer.kept_beside_per_sample >= outputs) {  // an activation function keeps its inputs
    shape.passed_forward += 2 + 2;
    shape.passed_back += 2 + 2 + 2;
  }
  if (layer.split == spec::TensorSplit::row) {  // output is added to the residual; backward, two gradients are added
    shape.passed_forward += 2 + 2 + 2;
    shape.passed_back += 2 + 2 + 2;
  }
  if (layer.experts > 1 && layer.split == spec::TensorSplit::row) {
    // Adds sorting of rows by expert, and back.
    shape.passed_forward += 2 + 2;  // added to the residual sum above
    shape.passed_back += 2 + 2;
  }
  shape.passed_forward += layer.passed_forward;
  shape.passed_back += layer.passed_back;
  if (layer.kept_bytes_per_sample >= outputs) {  // dropout, with a mask of one byte per number
    shape.passed_forward += 2 + 2 + 1;
    shape.passed_back += 2 + 2 + 1;
  }
}

/// Replaces the assumptions for typical programs by the operators of a known program.
void add_program(const spec::LayerShape& layer, step::Phase phase, KernelShape& shape) {
  const spec::LayerPasses& passes = layer.passes;
  if (passes.program == spec::Program::typical) return;
  shape.program = passes.program;
  shape.passed_forward = passes.forward + layer.passed_forward;
  // A decoder tied to the word table has two products in its backward pass, and processes its scores once.
  const double products_back = layer.is_tied() ? 2 : 1;
  shape.passed_back = passes.back / products_back + layer.passed_back;
  shape.passed_weights = passes.weights;
  shape.unfused_forward = passes.unfused_forward;
  shape.unfused_back = passes.unfused_back;
  const double matrix = layer.has_outer_product() ? static_cast<double>(layer.parameters) : shape.in * shape.out;
  // A tied decoder has no weight gradient of its own, so the cast of its gradient counts in the backward pass.
  const step::Phase of_gradient = layer.is_tied() ? step::Phase::backpropagate : step::Phase::weight_gradient;
  if (phase == step::Phase::forward) {
    shape.kernels = passes.kernels_forward;
    shape.passed_once = passes.parameter_forward * matrix;
  } else if (phase == step::Phase::backpropagate) {
    shape.kernels = passes.kernels_back;
  } else if (phase == step::Phase::weight_gradient) {
    shape.kernels = passes.kernels_weights;
  }
  if (phase == of_gradient) shape.passed_once += passes.parameter_weights * matrix;
  shape.between = passes.between;
  shape.host = passes.host * shape.kernels + passes.divided;
}

/// Returns the shapes of the operands of a layer's kernels.
KernelShape kernel_shape(const spec::LayerShape& layer) {
  KernelShape shape;
  const auto rows = static_cast<double>(layer.rows_per_sample);
  if (layer.kind == spec::LayerKind::convolution && layer.passes.program != spec::Program::typical) {
    shape.in = static_cast<double>(layer.in);
    shape.out = static_cast<double>(layer.out);
  }
  if (layer.kind == spec::LayerKind::dense && layer.outputs_per_sample > 0) {
    // A decoder tied to the word table has no matrix of its own.
    const bool own = layer.in > 0 && layer.out > 0;
    shape.in = own ? static_cast<double>(layer.in) : layer.forward_macs_per_sample / layer.outputs_per_sample;
    shape.out = own ? static_cast<double>(layer.out) : layer.outputs_per_sample / rows;
    add_passes(layer, shape);
  }
  const double mixed = layer.outputs_per_sample - layer.scores_per_sample;
  if (layer.kind == spec::LayerKind::attention && layer.heads > 0 && mixed > 0) {
    shape.head_size = mixed / (rows * static_cast<double>(layer.heads));
    shape.seen = layer.forward_macs_per_sample / (2 * mixed);
    shape.fused = layer.scores_per_sample == 0 && layer.recomputed_macs_per_sample > 0;
    shape.library = layer.library;
    if (shape.fused && layer.causal && layer.keys_seen == 0) shape.skipped = 2;
    if (layer.scores_per_sample > 0) {
      const bool dropped = layer.kept_bytes_per_sample > 0;
      shape.passed_forward = (2 + 2) + (dropped ? 2 + 2 + 1 : 0);  // softmax, dropout
      // The backward pass of softmax reads its outputs and their gradients.
      shape.passed_back = (2 + 2 + 2) + (dropped ? 2 + 2 + 1 : 0);
    }
  }
  return shape;
}

/// Sets the properties of a computation that determine its efficiency, apart from its amounts. `element`: bytes per
/// number.
void describe_layer(const std::vector<const spec::LayerShape*>& layers, double element, ComputeTask& task) {
  if (layers.size() != 1) {
    task.kind = spec::LayerKind::element_wise;
    return;
  }
  const spec::LayerShape& layer = *layers.front();
  task.kind = layer.kind;
  if (layer.has_outer_product() || layer.frozen > 0)
    task.weights = static_cast<double>(layer.experts) * static_cast<double>(layer.in) * static_cast<double>(layer.out);
  task.overlap = layer.overlap();
  KernelShape shape = kernel_shape(layer);
  add_program(layer, task.phase, shape);
  task.shape = shape;
  // A known program's bytes per score include the loss.
  if (task.phase == step::Phase::loss && layer.passes.program != spec::Program::typical && shape.in > 0)
    task.bytes_moved = PerWorker();
  if (shape.program != spec::Program::typical && layer.kind == spec::LayerKind::normalisation) {
    // The layer's known memory passes replace the assumption that each number is read and written once.
    const bool forward = task.phase == step::Phase::forward;
    if (forward || task.phase == step::Phase::backpropagate)
      task.bytes_moved = task.bytes_moved.scaled((forward ? layer.passes.forward : layer.passes.back) / (2 * element));
  }
  // The gradient of a recurrence's weights is one product over all positions.
  if (task.phase != step::Phase::forward && task.phase != step::Phase::backpropagate) return;
  task.sequential = static_cast<double>(layer.sequential);
  task.launches = task.launches.scaled(task.sequential);
}

}  // namespace

step::StepSizes scale_samples(const step::StepSizes& sizes, double scale) {
  if (!(scale > 0)) throw std::invalid_argument("the scale of samples must be positive");
  step::StepSizes scaled = sizes;
  const auto number = [scale](std::int32_t samples) {
    return samples > 0 ? static_cast<std::int32_t>(std::max(1.0, std::round(samples * scale))) : samples;
  };
  std::ranges::transform(scaled.samples, scaled.samples.begin(), number);
  for (auto& earlier : scaled.earlier) std::ranges::transform(earlier, earlier.begin(), number);
  return scaled;
}

OpSizing::OpSizing(const step::StepSizes& sizes, const spec::ModelShape& learned, const spec::ModelShape& timed,
                   double sample_scale, spec::Precision precision)
    : learned_(learned),
      recorded_(sizes),
      sizes_(scale_samples(sizes, sample_scale)),
      narrower_(bytes_per_element(precision) / bytes_per_element(spec::Precision::fp32)) {
  for (std::size_t i = 0; i < timed.layers.size(); ++i) {
    deltas_.emplace(&timed.layers[i], spec::delta_relations(timed, i));
  }
}

void OpSizing::stand_for(std::int32_t learned) {
  sums_.clear();
  learned_sums_.clear();
  if (learned < 0) {
    stand_in_ = {};
  } else if (const spec::LayerShape* layer = &learned_.layers[static_cast<std::size_t>(learned)];
             layer != stand_in_.layer) {
    stand_in_ = {layer, &recorded_, spec::delta_relations(learned_, static_cast<std::size_t>(learned)), &learned_sums_};
  }
}

double OpSizing::wire_bytes(const step::Payload& payload, const step::Scope& scope) const {
  return payload.bytes(scope) * (payload.type == step::ElementType::float32 ? narrower_ : 1);
}

double OpSizing::evaluate(const step::Expression& expression, const std::vector<const spec::LayerShape*>& layers,
                          std::int32_t worker) const {
  double sum = 0;
  for (const spec::LayerShape* layer : layers) sum += expression.evaluate(scope_of(layer, worker));
  return sum;
}

template <class Value>
double OpSizing::over_matrices(const std::vector<const spec::LayerShape*>& layers, std::int32_t worker,
                               Value&& value) const {
  double sum = 0;
  for (const spec::LayerShape* layer : layers) {
    if (!spec::has_other_matrices(*layer)) {
      sum += value(scope_of(layer, worker));
      continue;
    }
    const auto [found, is_new] = matrices_.try_emplace(layer);
    if (is_new) found->second = spec::matrices_of(*layer);
    for (const spec::EqualMatrices& equal : found->second) {
      step::Scope scope = scope_of(&equal.one, worker);
      if (const auto deltas = deltas_.find(layer); deltas != deltas_.end()) scope.deltas = deltas->second;
      sum += equal.count * value(scope);
    }
  }
  return sum;
}

step::Scope OpSizing::scope_of(const spec::LayerShape* layer, std::int32_t worker) const {
  const auto deltas = deltas_.find(layer);
  return {layer,
          &sizes_,
          worker,
          &sums_[layer],
          deltas == deltas_.end() ? spec::DeltaRelations{} : deltas->second,
          stand_in_.layer == nullptr ? nullptr : &stand_in_,
          nullptr,
          classes_};
}

namespace {

/// Returns whether an amount counts once per matrix of a layer: messages, and products with factors. Passes and the
/// optimizer have expressions for whole layers.
bool is_by_matrix(step::Phase phase, const step::Expression& amount) {
  using enum step::Phase;
  bool has_functions = false;
  amount.visit([&](const step::Call&) { has_functions = true; });
  if (phase == weight_gradient) return has_functions;
  return phase != forward && phase != loss && phase != backpropagate && phase != update && phase != orthogonalise;
}

}  // namespace

const step::Work& OpSizing::cheapest(const step::ComputeOp& op, const std::vector<const spec::LayerShape*>& layers,
                                     std::int32_t worker) const {
  const step::Work* best = nullptr;
  double fewest = 0;
  for (const step::Work& branch : op.branches) {
    const double flops = evaluate(branch.flops, layers, worker);
    if (best == nullptr || flops < fewest) {
      best = &branch;
      fewest = flops;
    }
  }
  if (best == nullptr) throw std::logic_error("a computation without a cost");
  return *best;
}

const step::WorkerClasses& OpSizing::classes_of(const step::Op& op) const {
  const auto [known, added] = classes_of_op_.try_emplace(&op, nullptr);
  if (!added) return *known->second;
  step::Numbers numbers;
  if (const auto* compute = std::get_if<step::ComputeOp>(&op.what)) {
    for (const step::Work& branch : compute->branches) {
      for (const step::Expression* part : {&branch.flops, &branch.bytes_moved, &branch.launches})
        part->collect(numbers);
    }
  } else if (const auto* collective = std::get_if<step::CollectiveOp>(&op.what)) {
    for (const step::Payload& payload : collective->payload) payload.elements.collect(numbers);
  }
  const auto [place, first] = classes_by_.try_emplace(numbers);
  if (first) place->second = step::worker_classes(recorded_, numbers);
  return *(known->second = &place->second);
}

template <class Value>
PerWorker OpSizing::per_participant(step::Role who, Value&& value) const {
  if (who == step::Role::aggregator) return PerWorker({value(-1)});
  std::vector<double> of_class;
  for (const std::int32_t worker : classes_->first) of_class.push_back(value(worker));
  if (classes_->class_of.empty()) return PerWorker(of_class);
  std::vector<double> values;
  values.reserve(workers());
  for (const std::int32_t own : classes_->class_of) values.push_back(of_class[static_cast<std::size_t>(own)]);
  return PerWorker(values);
}

/// Returns the bytes of frozen weights that a pass reads, and that no other cost includes. Of tables only single rows
/// are read.
double OpSizing::frozen_bytes(step::Phase phase, const std::vector<const spec::LayerShape*>& layers) const {
  if (phase != step::Phase::forward && phase != step::Phase::backpropagate) return 0;
  double bytes = 0;
  for (const spec::LayerShape* layer : layers) {
    if (layer->kind != spec::LayerKind::embedding)
      bytes += sizeof(float) * narrower_ * static_cast<double>(layer->frozen);
  }
  return bytes;
}

Task OpSizing::sized(const step::Op& op, const std::vector<const spec::LayerShape*>& layers) const {
  classes_ = &classes_of(op);
  Task task;
  task.layer = layers.size() == 1 ? layers.front()->name : "other layers";
  if (const auto* compute = std::get_if<step::ComputeOp>(&op.what)) {
    const auto cost = [&](step::Expression step::Work::*part) {
      return per_participant(compute->who, [&](std::int32_t worker) {
        const step::Expression& amount = cheapest(*compute, layers, worker).*part;
        const bool at_once = part == &step::Work::launches || !is_by_matrix(compute->phase, amount);
        if (at_once) return evaluate(amount, layers, worker);
        return over_matrices(layers, worker, [&](const step::Scope& scope) { return amount.evaluate(scope); });
      });
    };
    ComputeTask sized{compute->phase, compute->who, cost(&step::Work::flops),
                      cost(&step::Work::bytes_moved).scaled(compute->phase == step::Phase::update ? 1 : narrower_),
                      cost(&step::Work::launches)};
    const double frozen = frozen_bytes(compute->phase, layers);
    if (frozen > 0) sized.bytes_moved = sized.bytes_moved.plus(PerWorker({frozen}));
    describe_layer(layers, sizeof(float) * narrower_, sized);
    task.what = std::move(sized);
    return task;
  }
  const auto& collective = std::get<step::CollectiveOp>(op.what);
  const step::Role sender =
      collective.kind == step::CollectiveKind::broadcast ? step::Role::aggregator : step::Role::workers;
  CollectiveTask sized;
  sized.kind = collective.kind;
  sized.neighbours = collective.neighbours;
  sized.bytes = per_participant(sender, [&](std::int32_t worker) {
    double bytes = 0;
    for (const step::Payload& payload : collective.payload)
      bytes += over_matrices(layers, worker, [&](const step::Scope& scope) { return wire_bytes(payload, scope); });
    return bytes;
  });
  task.what = std::move(sized);
  return task;
}

}  // namespace dadsim::schedule
