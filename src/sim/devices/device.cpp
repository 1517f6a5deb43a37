#include "sim/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "sim/kernels.hpp"

namespace dadsim::sim {
namespace {

/// Number of times that 3×3 windows with a stride of one read each input number, except at the border.
constexpr double kThreeByThree = 9;

bool may_filter_minimally(spec::LayerKind kind, double overlap, spec::Precision precision) {
  return kind == spec::LayerKind::convolution && precision == spec::Precision::fp32 && overlap == kThreeByThree;
}

bool is_layer_product(const schedule::ComputeTask& task) {
  if (task.phase != step::Phase::forward && task.phase != step::Phase::backpropagate &&
      task.phase != step::Phase::weight_gradient && task.phase != step::Phase::orthogonalise)
    return false;
  return task.kind == spec::LayerKind::dense || task.kind == spec::LayerKind::convolution ||
         task.kind == spec::LayerKind::attention;
}

/// Returns the flop/s of the arithmetic units outside matrix products. A device with only reduced precision uses its
/// rate in that precision.
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
    throw std::logic_error(fmt::format("device '{}' has a rate or an efficiency of zero or less", device.name));
  }
}

KernelFormat format_of(spec::Precision precision) {
  if (precision == spec::Precision::nvfp4) return KernelFormat::nvfp4;
  if (precision == spec::Precision::fp8_block) return KernelFormat::fp8_block;
  return spec::casts_operands(precision) ? KernelFormat::fp8 : KernelFormat::bits16;
}

/// Returns whether kernels are modelled individually. Otherwise constants come from whole trainings without fusion,
/// which include these kernels (fp16 and wider).
bool tells_kernels_apart(spec::Precision precision) {
  return precision == spec::Precision::bf16 || spec::casts_operands(precision);
}

bool is_told(const schedule::ComputeTask& task) { return task.shape->program != spec::Program::typical; }

/// Returns the share of the peak that products reach. If the program's operators are known and operands are not cast,
/// it is the share of single kernels. Products are then about half of a step, so that the clock differs from that of a
/// long series of products. An efficiency set by the user has priority.
double product_share(const spec::DeviceSpec& device, const schedule::ComputeTask& task, const ProductKernel& kernel,
                     spec::Precision precision) {
  const bool own = std::ranges::any_of(device.efficiencies, [&](const spec::KindEfficiency& one) {
    return one.source.empty() && one.kind == task.kind && one.precision.value_or(precision) == precision;
  });
  if (!is_told(task) || spec::casts_operands(precision) || own) return device.efficiency(task.kind, precision);
  return kernel.share;
}

/// Returns the kernel constants of the device's family for the products of a dense layer; null for another layer, or if
/// the constants are unknown or include other kernels.
const ProductKernel* layer_kernel(const spec::DeviceSpec& device, const schedule::ComputeTask& task,
                                  spec::Precision precision) {
  const bool known = tells_kernels_apart(precision) || (is_told(task) && precision == spec::Precision::fp16);
  if (!known || task.kind != spec::LayerKind::dense || !(task.shape->in >= 1) || !(task.shape->out >= 1))
    return nullptr;
  return product_kernel(device.kernels, format_of(precision));
}

/// Returns the product that one kernel of a dense layer computes; for experts, the product of one expert.
Product layer_product(const schedule::ComputeTask& task, double flops) {
  const double matrix = task.shape->in * task.shape->out;
  const double experts = std::max(1.0, task.weights / matrix);
  const double rows = std::max(1.0, flops / task.sequential / (2 * matrix * experts));
  if (task.phase == step::Phase::weight_gradient) return {task.shape->out, task.shape->in, rows};
  if (task.phase == step::Phase::backpropagate) return {rows, task.shape->in, task.shape->out};
  return {rows, task.shape->out, task.shape->in};
}

/// Returns the rate of a grouped kernel (products of several experts) ÷ the rate of a single product; 1 for one matrix.
/// Measurements in 16 bit are used for other formats too.
double grouped_rate(const spec::DeviceSpec& device, const schedule::ComputeTask& task) {
  const ProductKernel* kernel = product_kernel(device.kernels, KernelFormat::bits16);
  const bool several = task.weights >= 2 * task.shape->in * task.shape->out;
  return kernel != nullptr && several ? kernel->grouped : 1;
}

/// Returns the flops of fused attention's products as if scores were written. Products above the diagonal are included;
/// the recomputed products, a fifth of the backward pass, are not.
double unfused_flops(const schedule::ComputeTask& task, double flops) {
  constexpr double kFourOfFive = 0.8;
  return flops * task.shape->skipped * (task.phase == step::Phase::backpropagate ? kFourOfFive : 1);
}

/// Returns the bytes of memory traffic of unfused attention, if the program's operators are known; otherwise 0.
/// `flops`: flops of attention's products.
double unfused_bytes(const schedule::ComputeTask& task, double flops) {
  const bool backward = task.phase == step::Phase::backpropagate;
  const double each = backward ? task.shape->unfused_back : task.shape->unfused_forward;
  return each * flops / ((backward ? 8 : 4) * task.shape->head_size);
}

/// Returns the factor by which attention is slower if scores are written to memory: the mean of the factors of its two
/// products. One product sums over a head and gives positions, the other sums over positions and gives a head.
double plain_attention_factor(const ProductKernel& kernel, const schedule::KernelShape& shape) {
  const double positions = shape.seen * shape.skipped;
  return 1 + (kernel.depth / shape.head_size + kernel.depth / positions) / 2;
}

/// Returns the seconds of attention in 16 bit by the kernels of the device's family. Returns nothing for other formats
/// and layers, or if the kernels are unknown.
std::optional<double> attention_by_kernels(const spec::DeviceSpec& device, const schedule::ComputeTask& task,
                                           double flops, spec::Precision precision) {
  const bool narrow = precision == spec::Precision::bf16 || precision == spec::Precision::fp16;
  const ProductKernel* products = product_kernel(device.kernels, KernelFormat::bits16);
  const bool backward = task.phase == step::Phase::backpropagate;
  const AttentionKernel* fused = attention_kernel(device.kernels, KernelFormat::bits16, backward, task.shape->library);
  if (!narrow || task.kind != spec::LayerKind::attention || products == nullptr || !(task.shape->head_size >= 1) ||
      !(task.shape->seen > 0))
    return std::nullopt;
  const double peak = device.peak(precision);
  const double written = task.shape->fused ? unfused_flops(task, flops) : flops;
  double plain = 0;
  if (is_told(task) || tells_kernels_apart(precision)) {
    const double share = is_told(task) ? product_share(device, task, *products, precision)
                                       : device.efficiency(spec::LayerKind::dense, precision);
    plain = written * plain_attention_factor(*products, *task.shape) / (peak * share);
  } else {
    plain = (written + peak * device.ramp_seconds) / (peak * device.efficiency(task.kind, precision));
  }
  if (task.shape->fused) plain += unfused_bytes(task, written) / (device.memory_bandwidth * device.memory_efficiency);
  if (!task.shape->fused || fused == nullptr) return plain;
  const KernelRates rates{peak, device.memory_bandwidth, device.memory_efficiency};
  // Takes the quicker of the two kernels, as libraries do that have both.
  return std::min(plain, attention_seconds(*fused, rates, {flops, task.shape->head_size, task.shape->seen, backward}));
}

/// Returns the flop/s of nvfp4 products that corresponds to the fp8 peak, because efficiencies of trainings refer to
/// fp8. The data sheet's peak is scaled by the ratio of kernel efficiencies (nvfp4 ÷ fp8), up to 1.81 times the fp8
/// peak. (NVIDIA, Transformer Engine, profile of four products of a layer on B300 without casts; its data sheet claims
/// three times.)
double measured_fp4_peak(const spec::DeviceSpec& device) {
  constexpr double kMostOfFp8 = 1.81;
  const ProductKernel* fp4 = product_kernel(device.kernels, KernelFormat::nvfp4);
  const ProductKernel* fp8 = product_kernel(device.kernels, KernelFormat::fp8);
  if (fp4 == nullptr || fp8 == nullptr) return device.fp4_flops;
  return std::min(device.fp4_flops * fp4->share / fp8->share, kMostOfFp8 * device.fp8_flops);
}

/// Returns the seconds of arithmetic in matrix products.
double product_seconds(const spec::DeviceSpec& device, const schedule::ComputeTask& task, double flops,
                       spec::Precision precision) {
  if (flops == 0) return 0;
  // Casts only operands of dense layers with weights of their own to 8 or 4 bit (Micikevicius et al.,
  // arXiv:2209.05433). Attention and orthogonalisation stay in bf16, and so do decoders that share the embedding table.
  if (spec::casts_operands(precision) &&
      (task.kind != spec::LayerKind::dense || task.weights == 0 || task.phase == step::Phase::orthogonalise))
    precision = spec::Precision::bf16;
  double peak = device.peak(precision);
  if (!(peak > 0)) throw std::logic_error(fmt::format("device '{}' has no {}", device.name, to_string(precision)));
  if (precision == spec::Precision::nvfp4) peak = std::min(peak, measured_fp4_peak(device));
  const double efficiency = device.efficiency(task.kind, precision);
  if (const ProductKernel* kernel = layer_kernel(device, task, precision)) {
    const double factor = shape_factor(*kernel, layer_product(task, flops));
    const double share = product_share(device, task, *kernel, precision);
    return flops * factor / (peak * share * grouped_rate(device, task)) + task.sequential * kernel->fixed;
  }
  if (const std::optional<double> seconds = attention_by_kernels(device, task, flops, precision)) return *seconds;
  const double rows = task.weights > 0 ? flops / task.sequential / (2 * task.weights) : device.tile_rows;
  if (task.phase != step::Phase::orthogonalise && may_filter_minimally(task.kind, task.overlap, precision))
    flops *= device.winograd_share;
  // Pads no tiles for the gradient of weights, which sums over rows.
  if (task.phase != step::Phase::weight_gradient) flops *= std::max(1.0, device.tile_rows / rows);
  if (task.shape->fused) flops = std::min(flops, unfused_flops(task, flops));
  // Ramp term W ÷ (W + peak × ramp) of the efficiency, written as a cost per kernel in addition to arithmetic.
  const double ramps = task.sequential * peak * device.ramp_seconds;
  return (flops + ramps) / (peak * efficiency);
}

/// Returns the bytes of memory traffic to cast one number that products read both by rows and by columns. The kernel
/// that makes the number, a norm or an activation, writes both casts (Transformer Engine fuses them). A scale of the
/// current tensor requires a read before. nvfp4 has such a scale in addition to those of blocks.
double cast_bytes(spec::Precision precision) {
  constexpr double kRead = 2;
  const bool looks_first = precision == spec::Precision::fp8_current || precision == spec::Precision::nvfp4;
  return (looks_first ? kRead : 0) + 2 * spec::operand_bytes(precision);
}

/// Returns the bytes to cast a dense layer's operands: its input in the forward pass, and the gradient of its output in
/// the backward pass. Weights are cast once for all micro-batches.
double cast_bytes(const schedule::ComputeTask& task, double flops, spec::Precision precision) {
  if (!spec::casts_operands(precision) || task.kind != spec::LayerKind::dense || task.weights == 0 ||
      !(task.shape->in >= 1) || !(task.shape->out >= 1))
    return 0;
  const double rows = flops / (2 * task.shape->in * task.shape->out);
  return cast_bytes(precision) * rows * (task.phase == step::Phase::forward ? task.shape->in : task.shape->out);
}

/// Returns the bytes of the kernels around a product, on any device, for a program whose operators are known.
double bytes_of_program(const schedule::ComputeTask& task, double flops) {
  const schedule::KernelShape& shape = *task.shape;
  const bool backward = task.phase == step::Phase::backpropagate;
  const double each = backward                                     ? shape.passed_back
                      : task.phase == step::Phase::weight_gradient ? shape.passed_weights
                                                                   : shape.passed_forward;
  double of_number = 2 * shape.in;
  if (task.kind == spec::LayerKind::attention) {
    // Counts fused attention per number of the mix of values. Each number has products with all positions seen.
    of_number = shape.fused ? (backward ? 10 : 4) * shape.seen : (backward ? 8 : 4) * shape.head_size;
  }
  return shape.passed_once + (each > 0 && of_number > 0 ? each * flops / of_number : 0);
}

/// Returns the bytes that kernels before and after a product read and write, if the device's constants count these
/// bytes separately.
double passed_bytes(const spec::DeviceSpec& device, const schedule::ComputeTask& task, double flops,
                    spec::Precision precision) {
  if (task.phase == step::Phase::orthogonalise) return 0;
  if (is_told(task)) return cast_bytes(task, flops, precision) + bytes_of_program(task, flops);
  const bool backward = task.phase == step::Phase::backpropagate;
  if (!device.has_kernels() || !tells_kernels_apart(precision) || (task.phase != step::Phase::forward && !backward))
    return 0;
  const double casts = cast_bytes(task, flops, precision);
  const double each = (backward ? task.shape->passed_back : task.shape->passed_forward);
  if (each == 0) return casts;
  // Converts flop to output numbers. A dense layer has 2 × in flop per number; attention has two products per score
  // forward and four backward.
  const double of_number =
      task.kind == spec::LayerKind::attention ? (backward ? 8 : 4) * task.shape->head_size : 2 * task.shape->in;
  return casts + each * flops / of_number;
}

}  // namespace

bool filters_minimally(const spec::DeviceSpec& device, const spec::LayerShape& layer, spec::Precision precision) {
  return device.winograd_share < 1 && may_filter_minimally(layer.kind, layer.overlap(), precision);
}

double seconds_on(const spec::DeviceSpec& device, const schedule::ComputeTask& task, std::size_t entry,
                  spec::Precision precision) {
  check(device);
  const double flops = task.flops[entry];
  const double bytes = task.bytes_moved[entry];
  const double launches = task.launches[entry];
  const double seconds = task.seconds[entry];
  const auto amount = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!amount(flops) || !amount(bytes) || !amount(launches) || !amount(seconds) || !(task.sequential >= 1)) {
    throw std::logic_error(
        fmt::format("a computation of {} flop, {} byte and {} launches has no duration", flops, bytes, launches));
  }
  double arithmetic = 0;
  double passed = 0;  // bytes of kernels after a product, which overlap with no arithmetic
  if (is_layer_product(task)) {
    arithmetic = product_seconds(device, task, flops, precision);
    passed = passed_bytes(device, task, flops, precision);
  } else if (task.phase == step::Phase::factorise || task.phase == step::Phase::merge) {
    arithmetic = flops / (vector_peak(device) * device.efficiency(spec::LayerKind::dense, spec::Precision::fp32));
  } else {
    arithmetic = flops / (0.5 * vector_peak(device));
  }
  const double streamed = device.memory_bandwidth * device.memory_efficiency;
  const double begun = is_told(task) ? task.shape->kernels * task.shape->between : launches * device.launch_overhead;
  return device.slowdown * (begun + std::max(arithmetic, bytes / streamed) + passed / streamed) +
         (task.recorded ? device.slowdown : 1) * seconds;
}

}  // namespace dadsim::sim
