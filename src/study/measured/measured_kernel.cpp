#include "study/measured/measured_kernel.hpp"

#include <algorithm>

#include "sim/kernels.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

using Kind = MeasuredKernel::Kind;

double bytes_of_number(spec::Precision precision) {
  return precision == spec::Precision::fp32 || precision == spec::Precision::tf32 ? 4 : 2;
}

double flops_of(const MeasuredKernel& kernel) {
  const auto& [a, b, c] = kernel.sizes;
  if (kernel.kind == Kind::product) return 2 * a * b * c;
  return kernel.kind == Kind::attention ? sim::attention_flops(a * b * b, c, false) : 0;
}

double bytes_of(const MeasuredKernel& kernel, spec::Precision precision) {
  const auto& [a, b, c] = kernel.sizes;
  if (kernel.kind == Kind::pass) return a;
  const double numbers = kernel.kind == Kind::product ? a * b + b * c + a * c : 4 * a * b * c;
  return numbers * bytes_of_number(precision);
}

}  // namespace

std::optional<MeasuredKernel> parse_measured_kernel(const std::string& text) {
  constexpr std::int64_t kMostRows = 1'000'000'000;
  constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
  MeasuredKernel kernel;
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return {};
  const std::string kind = text.substr(0, blank);
  const std::string sizes = text.substr(blank + 1);
  if (kind == "attention") {
    kernel.kind = Kind::attention;
  } else if (kind == "pass") {
    kernel.kind = Kind::pass;
  } else if (kind != "product") {
    return {};
  }
  const bool pass = kernel.kind == Kind::pass;
  const std::vector<std::string_view> parts = split_at(sizes, 'x');
  if (parts.size() != (pass ? 1 : kernel.sizes.size())) return {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto size = parse_whole<std::int64_t>(parts[i], 1, pass ? kMostBytes : kMostRows);
    if (!size) return {};
    kernel.sizes[i] = static_cast<double>(*size);
  }
  return kernel;
}

schedule::Schedule schedule_of(const MeasuredKernel& kernel, spec::Precision precision) {
  const auto& [a, b, c] = kernel.sizes;
  schedule::ComputeTask task;
  task.flops = schedule::PerWorker(flops_of(kernel));
  task.bytes_moved = schedule::PerWorker(bytes_of(kernel, precision));
  task.launches = schedule::PerWorker(1);
  if (kernel.kind == Kind::product) {
    task.weights = b * c;
    task.shape.in = c;
    task.shape.out = b;
  } else if (kernel.kind == Kind::attention) {
    task.kind = spec::LayerKind::attention;
    task.shape.head_size = c;
    task.shape.seen = b;
    task.shape.fused = true;
  } else {
    task.phase = step::Phase::add;
    task.kind = spec::LayerKind::element_wise;
  }
  schedule::Schedule schedule;
  schedule.workers = 1;
  schedule.precision = precision;
  schedule.tasks.push_back({"", std::move(task)});
  return schedule;
}

double least_seconds(const MeasuredKernel& kernel, const spec::DeviceSpec& device, spec::Precision precision) {
  const double flops = flops_of(kernel);
  return std::max(flops > 0 ? flops / device.peak(precision) : 0,
                  bytes_of(kernel, precision) / device.memory_bandwidth);
}

}  // namespace dadsim::study
