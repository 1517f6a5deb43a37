#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "sim/device.hpp"
#include "sim/kernels.hpp"
#include "spec/near_names.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/split.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

std::array<double, 3> sizes_of(const po::variables_map& values, const char* option) {
  const std::string text = text_of(values, option);
  const std::vector<std::string_view> parts = split_at(text, 'x');
  std::array<double, 3> sizes{};
  if (parts.size() != sizes.size())
    throw UsageError(fmt::format("--{} '{}'; write three whole numbers with x between them", option, text));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = static_cast<double>(read_option<std::int64_t>(option, parts[i], scenario::integer(1, 1'000'000'000)));
  return sizes;
}

const spec::DeviceSpec& device_of(const po::variables_map& values) {
  const std::string name = text_of(values, "on");
  const std::vector<std::string> names = sim::device_catalog().names();
  if (name.empty()) throw UsageError("--on is missing; add a device, " + suggestion("", names));
  const spec::NameMeant meant = spec::name_meant(spec::NameKind::device, name, names);
  if (meant.name.empty())
    throw UsageError(fmt::format("--on '{}'; {}", name, spec::remedy_for_name(spec::NameKind::device, meant)));
  return sim::device_catalog().at(meant.name);
}

/// Kernels of a device, and of all families.
template <class Kernel>
struct FoundKernel {
  const Kernel* kernel = nullptr;  ///< kernel of the device's family, or of all families together
  bool measured = false;           ///< true: fitted to measurements on the device
  double spread = 1;
};
/// Looks up the kernels of a device with `find`. Of kernels that no measurement on the device was seen of, the spread
/// is that between families.
template <class Find>
auto found_for(const sim::DeviceKernels& device, const Find& find) {
  const auto* own = find(device.family);
  const auto* any = find(spec::kAnyKernels);
  FoundKernel<std::remove_cvref_t<decltype(*own)>> found{own == nullptr ? any : own};
  found.measured = own != nullptr && own->spread > 0 && device.measured;
  if (found.kernel != nullptr) found.spread = found.kernel->spread;
  if (!found.measured && any != nullptr) found.spread = std::max(found.spread, any->spread);
  return found;
}

/// Returns "…: 1.42 ms, 772 Tflop/s, 78 % of the peak" with the band, and a table with the same.
template <class Kernel>
report::Document document_of(const std::string& kernel, double seconds, double flops, const sim::KernelRates& rates,
                             const std::string& device, const FoundKernel<Kernel>& found) {
  const double rate = flops / seconds;
  const double low = seconds / found.spread, high = seconds * found.spread;
  report::Document document{{.version = kVersion, .build = build()}, {}};
  document.command = "dadsim kernel";
  document.lead = {fmt::format("{}: {}, {:.4g} Tflop/s, {} of the peak", kernel, human_seconds(seconds), rate / 1e12,
                               human_percent(rate / rates.peak)),
                   fmt::format("nine of ten such kernels take {} to {}", human_seconds(low), human_seconds(high))};
  if (!found.measured)
    document.lead.push_back(
        fmt::format("no measurement of such kernels on {0} was seen: measure some with scripts/collect-kernels and "
                    "'dadsim calibrate kernels.csv --device NAME --like {0}' (docs/calibrate.md)",
                    device));
  report::DocumentTable table{.object = true};
  table.add_row()
      .add("kernel", "kernel", kernel, report::Unit::text)
      .add("seconds", "time", seconds, report::Unit::seconds)
      .add("flop_per_second", "rate", rate, report::Unit::plain, fmt::format("{:.4g} Tflop/s", rate / 1e12))
      .add("share_of_peak", "share of the peak", rate / rates.peak, report::Unit::share)
      .add("band.low", "at least", low, report::Unit::seconds)
      .add("band.high", "at most", high, report::Unit::seconds)
      .add("measured", "measured on this device", found.measured, report::Unit::plain);
  document.parts.push_back({.name = "kernel", .shown = report::Shown::page, .what = std::move(table)});
  return document;
}

constexpr double kBytesOf16Bit = 2;
double operand_bytes(sim::KernelFormat format) {
  if (format == sim::KernelFormat::bits16) return kBytesOf16Bit;
  return format == sim::KernelFormat::nvfp4 ? 0.5 : 1;
}

}  // namespace

void run_kernel(const po::variables_map& values) {
  if (const auto operands = operands_of(values); !operands.empty())
    throw UsageError(fmt::format("'{}' is not an option; put --product or --attention before it", operands.front()));
  if (values.contains("product") == values.contains("attention"))
    throw UsageError("--product or --attention is needed; give one of them");
  for (const char* only : {"causal", "backward", "library"}) {
    if (values.contains(only) && !values.contains("attention"))
      throw UsageError(fmt::format("--{} needs --attention; remove it", only));
  }
  const bool casts = !values.contains("no-cast");
  if (!casts && !values.contains("product"))
    throw UsageError("--no-cast needs --product; remove it: attention casts nothing");
  const StudyFiles files(values, {});
  const spec::DeviceSpec& device = device_of(values);
  const sim::KernelFormat format = value_of<sim::KernelFormat>(values, "format").value_or(sim::KernelFormat::bits16);
  const sim::DeviceKernels kernels = sim::kernels_of(device.name);
  const bool backward = values.contains("backward");
  const std::optional<sim::KernelRates> rates = kernel_rates(device, format);
  const auto nothing_known = [&]() -> UsageError {
    return rates ? UsageError(fmt::format("no such kernel in {} was measured anywhere; use another --format",
                                          spec::to_string(format)))
                 : UsageError(fmt::format("{} has no products in {}; use another --format or --on", device.name,
                                          spec::to_string(format)));
  };
  if (values.contains("product")) {
    const auto found = found_for(kernels, [&](const std::string& family) { return product_kernel(family, format); });
    const auto [m, n, k] = sizes_of(values, "product");
    if (found.kernel == nullptr || !rates) throw nothing_known();
    sim::ProductKernel asked = *found.kernel;
    if (!casts) {
      if (!(asked.cast > 0)) throw UsageError("--no-cast needs a product that casts; add --format fp8, or remove it");
      asked = sim::without_cast(kernels.family, asked);
    }
    const double seconds = product_seconds(asked, *rates, {m, n, k, operand_bytes(format)});
    files.write(
        document_of(fmt::format("{:.0f} × {:.0f} by {:.0f} × {:.0f} in {}{} on {}", m, k, k, n, spec::to_string(format),
                                asked.cast > 0 ? " with the cast of the rows" : "", device.name),
                    seconds, 2 * m * n * k, *rates, device.name, found));
    return;
  }
  const auto library = value_of<spec::FlashLibrary>(values, "library").value_or(spec::FlashLibrary::any);
  if (library == spec::FlashLibrary::flash_3 && device.generation < spec::GpuGeneration::hopper)
    throw UsageError(
        fmt::format("--library flash-3 needs Hopper or a later device; use --library flash-2 on {}", device.name));
  const auto found = found_for(
      kernels, [&](const std::string& family) { return attention_kernel(family, format, backward, library); });
  const auto [heads, positions, size] = sizes_of(values, "attention");
  if (found.kernel == nullptr || !rates) throw nothing_known();
  const double seen = values.contains("causal") ? positions / 2 : positions;
  const double flops = sim::attention_flops(heads * positions * seen, size, backward);
  files.write(document_of(fmt::format("{}attention{}, {:.0f} heads of size {:.0f}, {:.0f} positions, in {} on {}",
                                      values.contains("causal") ? "causal " : "", backward ? " backward" : "", heads,
                                      size, positions, spec::to_string(format), device.name),
                          attention_seconds(*found.kernel, *rates, {flops, size, seen, backward}), flops, *rates,
                          device.name, found));
}

}  // namespace dadsim::cli
