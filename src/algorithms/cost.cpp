#include "algorithms/cost.hpp"

#include "models/muon.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {

step::Expression weights_of_matrix() { return step::extent::in() * step::extent::out(); }

step::Expression beside_matrix() { return step::extent::parameters() - weights_of_matrix(); }

}  // namespace dadsim::algorithms

namespace dadsim::algorithms::cost {
namespace {

step::Expression rows_of(Span span) { return span == Span::own_rows ? step::extent::rows() : step::extent::all_rows(); }
step::Expression inputs_of(Span span) {
  return span == Span::own_rows ? step::extent::inputs() : step::extent::all_rows() * step::extent::in();
}
step::Expression outputs_of(Span span) {
  return span == Span::own_rows ? step::extent::outputs() : step::extent::all_outputs();
}

}  // namespace

step::Work forward(Span span) {
  const step::Expression macs =
      span == Span::own_rows ? step::extent::forward_macs() : step::extent::all_forward_macs();
  return {.flops = 2.0 * macs,
          .bytes_moved = cost::kFloatBytes * (inputs_of(span) + step::extent::parameters() + 2.0 * outputs_of(span)),
          .launches = 2.0};
}

step::Work loss() {
  const step::Expression logits = step::extent::rows() * step::extent::out();
  return {.flops = 5.0 * logits, .bytes_moved = 4.0 * cost::kFloatBytes * logits, .launches = 3.0};
}

step::Work backpropagate(Span span) {
  const step::Expression macs =
      span == Span::own_rows ? step::extent::backward_macs() : step::extent::all_backward_macs();
  return {
      .flops = 2.0 * macs,
      .bytes_moved = cost::kFloatBytes * (2.0 * outputs_of(span) + step::extent::parameters() + 2.0 * inputs_of(span)),
      .launches = 2.0};
}

step::Work weight_gradient(Span span) {
  const step::Expression rows = rows_of(span);
  const step::Expression macs =
      span == Span::own_rows ? step::extent::gradient_macs() : step::extent::all_gradient_macs();
  const step::Expression bias = step::extent::in_with_bias() + -1.0 * step::extent::in();
  return {.flops = 2.0 * (macs + rows * bias * step::extent::out()),
          .bytes_moved = cost::kFloatBytes * (inputs_of(span) + outputs_of(span) + step::extent::parameters()),
          .launches = 1.0};
}

step::Work product_of_factors(const step::Expression& components) {
  return {.flops = 2.0 * components * step::extent::in_with_bias() * step::extent::out(),
          .bytes_moved = cost::kFloatBytes * (components * (step::extent::in_with_bias() + step::extent::out()) +
                                              step::extent::parameters()),
          .launches = 1.0};
}

step::Work add_gradients(double workers) {
  return {.flops = workers * step::extent::parameters(),
          .bytes_moved = cost::kFloatBytes * (workers + 1.0) * step::extent::parameters(),
          .launches = 1.0};
}

step::Work only_where(const step::Expression& condition, const step::Work& work) {
  return {.flops = condition * work.flops,
          .bytes_moved = condition * work.bytes_moved,
          .launches = condition * work.launches};
}

namespace {

/// Work of Newton–Schulz (models::orthogonalised()) for each matrix of a layer, or of each expert: X Xᵀ, A² and the
/// product with X. X is s × l, with s the shorter side.
step::Work newton_schulz() {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as they are derived
  const step::Expression s = min({in(), out()});
  const step::Expression hidden = hidden_matrix();
  const step::Expression steps = static_cast<double>(models::kNewtonSchulzSteps) * hidden;
  const step::Expression matrices = quotient(parameters(), in_with_bias() * out() + 1.0 - hidden);
  return {.flops = steps * matrices * (4.0 * s * weights_of_matrix() + 2.0 * s * s * s),
          .bytes_moved = kFloatBytes * steps * matrices * (4.0 * weights_of_matrix() + 5.0 * s * s),
          .launches = 3.0 * steps};
}

}  // namespace

std::vector<step::ComputeOp> update(const spec::OptimizerSpec& optimizer, bool directions) {
  step::Work pass{
      .flops = models::update_flops_per_parameter(optimizer) * step::extent::parameters(),
      .bytes_moved = cost::kFloatBytes * models::update_floats_per_parameter(optimizer) * step::extent::parameters(),
      .launches = 1.0};
  const bool muon = optimizer.kind == spec::OptimizerSpec::Kind::muon;
  if (muon && directions) pass.bytes_moved += -4.0 * kFloatBytes * step::extent::hidden_matrix() * weights_of_matrix();
  std::vector<step::ComputeOp> ops{{step::Phase::update, step::Role::workers, {pass}, false, true}};
  if (muon && !directions) ops.push_back({step::Phase::orthogonalise, step::Role::workers, {newton_schulz()}});
  return ops;
}

}  // namespace dadsim::algorithms::cost
