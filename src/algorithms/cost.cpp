#include "algorithms/cost.hpp"

namespace dadsim::cost {
namespace {

constexpr double kFloat = 4.0;  // bytes

Expression rows_of(Span span) { return span == Span::own_rows ? extent::rows() : extent::all_rows(); }
Expression inputs_of(Span span) {
  return span == Span::own_rows ? extent::inputs() : extent::all_rows() * extent::in();
}
Expression outputs_of(Span span) { return span == Span::own_rows ? extent::outputs() : extent::all_outputs(); }

}  // namespace

Work forward(Span span) {
  const Expression macs = span == Span::own_rows ? extent::forward_macs() : extent::all_forward_macs();
  return {.flops = 2.0 * macs,
          .bytes_moved = kFloat * (inputs_of(span) + extent::parameters() + 2.0 * outputs_of(span)),
          .launches = 2.0};
}

Work loss() {
  const Expression logits = extent::rows() * extent::out();
  return {.flops = 5.0 * logits, .bytes_moved = 4.0 * kFloat * logits, .launches = 3.0};
}

Work propagate(Span span) {
  const Expression macs = span == Span::own_rows ? extent::backward_macs() : extent::all_backward_macs();
  return {.flops = 2.0 * macs,
          .bytes_moved = kFloat * (2.0 * outputs_of(span) + extent::parameters() + 2.0 * inputs_of(span)),
          .launches = 2.0};
}

Work weight_gradient(Span span) {
  const Expression rows = rows_of(span);
  const Expression macs = span == Span::own_rows ? extent::gradient_macs() : extent::all_gradient_macs();
  const Expression bias = extent::in_with_bias() + -1.0 * extent::in();
  return {.flops = 2.0 * (macs + rows * bias * extent::out()),
          .bytes_moved = kFloat * (inputs_of(span) + outputs_of(span) + extent::parameters()),
          .launches = 1.0};
}

Work product_of_factors(const Expression& components) {
  return {.flops = 2.0 * components * extent::in_with_bias() * extent::out(),
          .bytes_moved = kFloat * (components * (extent::in_with_bias() + extent::out()) + extent::parameters()),
          .launches = 1.0};
}

Work add_gradients(double workers) {
  return {.flops = workers * extent::parameters(),
          .bytes_moved = kFloat * (workers + 1.0) * extent::parameters(),
          .launches = 1.0};
}

Work update(double floats_per_parameter, double flops_per_parameter) {
  return {.flops = flops_per_parameter * extent::parameters(),
          .bytes_moved = kFloat * floats_per_parameter * extent::parameters(),
          .launches = 1.0};
}

}  // namespace dadsim::cost
