#include "sim/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dadsim::sim {
namespace {

/// Windows of 3×3 with a stride of one hold every input nine times (but for the border).
constexpr double kThreeByThree = 9;

bool may_filter_minimally(spec::LayerKind kind, double overlap, spec::Precision precision) {
  return kind == spec::LayerKind::convolution && precision == spec::Precision::fp32 && overlap == kThreeByThree;
}

bool is_layer_product(const step::ComputeTask& task) {
  if (task.phase != step::Phase::forward && task.phase != step::Phase::backpropagate &&
      task.phase != step::Phase::weight_gradient)
    return false;
  return task.kind == spec::LayerKind::dense || task.kind == spec::LayerKind::convolution ||
         task.kind == spec::LayerKind::attention;
}

/// The arithmetic units of everything but products of layers. A device that has only reduced precision does it there.
double vector_peak(const spec::DeviceSpec& device) {
  if (device.peak_flops > 0) return device.peak_flops;
  return std::max({device.tf32_flops, device.fp16_flops, device.bf16_flops});
}

void check(const spec::DeviceSpec& device) {
  const auto amount = [](double value) { return std::isfinite(value) && value >= 0; };
  const auto share = [](double value) { return value > 0 && value <= 1; };
  if (!(vector_peak(device) > 0) || !(device.memory_bandwidth > 0) || !share(device.matrix_efficiency) ||
      !share(device.memory_efficiency) || !amount(device.launch_overhead) || !amount(device.ramp_seconds) ||
      !(device.tile_rows >= 1) || !share(device.winograd_share) ||
      !std::ranges::all_of(device.efficiencies, [&](const spec::KindEfficiency& one) { return share(one.share); })) {
    throw std::logic_error(fmt::format("device '{}' has a rate or an efficiency that is not above zero", device.name));
  }
}

/// Seconds of the arithmetic of matrix products.
double product_seconds(const spec::DeviceSpec& device, const step::ComputeTask& task, double flops,
                       spec::Precision precision) {
  if (flops == 0) return 0;
  // Casts to 8 bit are of the operands of dense layers with a matrix of their own (Micikevicius et al.,
  // arXiv:2209.05433): attention, and decoders that share the table of words, stay in bf16.
  if (precision == spec::Precision::fp8 && (task.kind != spec::LayerKind::dense || task.weights == 0))
    precision = spec::Precision::bf16;
  const double peak = device.peak(precision);
  if (!(peak > 0)) throw std::logic_error(fmt::format("device '{}' has no {}", device.name, to_string(precision)));
  const double rows = task.weights > 0 ? flops / task.sequential / (2 * task.weights) : device.tile_rows;
  if (may_filter_minimally(task.kind, task.overlap, precision)) flops *= device.winograd_share;
  // The gradient of weights sums over rows; what comes in fills others.
  if (task.phase != step::Phase::weight_gradient) flops *= std::max(1.0, device.tile_rows / rows);
  // W ÷ (W + peak × ramp) of the efficiency, written as what each kernel costs beside its arithmetic.
  const double ramps = task.sequential * peak * device.ramp_seconds;
  return (flops + ramps) / (peak * device.efficiency(task.kind, precision));
}

}  // namespace

bool filters_minimally(const spec::DeviceSpec& device, const spec::LayerShape& layer, spec::Precision precision) {
  return device.winograd_share < 1 && may_filter_minimally(layer.kind, layer.overlap(), precision);
}

double seconds_on(const spec::DeviceSpec& device, const step::ComputeTask& task, std::size_t entry,
                  spec::Precision precision) {
  check(device);
  const double flops = task.flops[entry];
  const double bytes = task.bytes_moved[entry];
  const double launches = task.launches[entry];
  const auto amount = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!amount(flops) || !amount(bytes) || !amount(launches) || !(task.sequential >= 1)) {
    throw std::logic_error(
        fmt::format("a computation of {} flop, {} byte and {} launches has no duration", flops, bytes, launches));
  }
  double arithmetic = 0;
  if (is_layer_product(task)) {
    arithmetic = product_seconds(device, task, flops, precision);
  } else if (task.phase == step::Phase::factorise || task.phase == step::Phase::merge) {
    arithmetic = flops / (vector_peak(device) * device.efficiency(spec::LayerKind::dense, spec::Precision::fp32));
  } else {
    arithmetic = flops / (0.5 * vector_peak(device));
  }
  return device.slowdown * (launches * device.launch_overhead +
                            std::max(arithmetic, bytes / (device.memory_bandwidth * device.memory_efficiency)));
}

}  // namespace dadsim::sim
