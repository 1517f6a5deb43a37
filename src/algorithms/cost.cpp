#include "algorithms/cost.hpp"

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

step::Work update(double floats_per_parameter, double flops_per_parameter) {
  return {.flops = flops_per_parameter * step::extent::parameters(),
          .bytes_moved = cost::kFloatBytes * floats_per_parameter * step::extent::parameters(),
          .launches = 1.0};
}

}  // namespace dadsim::algorithms::cost
