#include "sim/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/devices/kernel_families.csv.hpp"
#include "sim/devices/kernels.csv.hpp"
#include "spec/fact_cells.hpp"

namespace dadsim::sim {
namespace {

constexpr double kFlopsPerPair = 4;     // flops per pair of positions and number of a head, forward
constexpr double kBackwardFlops = 2.5;  // backward flops ÷ forward flops: five products instead of two
constexpr double kBackwardExponentials =
    2.0;  // backward exponentials ÷ forward exponentials: recomputation, and the backward pass of softmax

/// A tile of the libraries' products; `halvings`: how often the largest tile was halved.
struct ProductTile {
  double rows, columns, halvings;
};
constexpr ProductTile kTiles[] = {{256, 128, 0}, {128, 256, 0}, {128, 128, 1}, {64, 256, 1},
                                  {256, 64, 1},  {64, 128, 2},  {128, 64, 2},  {64, 64, 3}};

enum class KernelKind : std::uint8_t { product, attention, attention_backward };
constexpr auto names_of(KernelKind) {
  using enum KernelKind;
  return std::to_array<spec::Name<KernelKind>>(
      {{product, "product"}, {attention, "attention"}, {attention_backward, "attention-backward"}});
}

using Key = std::tuple<std::string, KernelFormat, spec::FlashLibrary>;

std::string family_in(const FactTable::Row& row) {
  const std::string& family = row.text("family");
  if (std::ranges::find(spec::kernel_families(), family) == spec::kernel_families().end())
    row.wrong("'" + family + "' as family", suggestion(family, spec::kernel_families()));
  return family;
}

struct KernelTable {
  std::map<Key, ProductKernel> products;
  std::map<Key, AttentionKernel> forward, backward;

  KernelTable() {
    const FactTable table(tables::kKernels,
                          {"family", "kind", "library", "format", "share", "fixed [us]", "depth", "units", "last wave",
                           "halving", "cast", "grouped", "exponentials", "per exponential", "spread", "date", "source"},
                          4);
    for (const FactTable::Row& row : table.rows()) {
      const Key key{family_in(row), spec::named_in<KernelFormat>(row, "format"),
                    row.optional_text("library").empty() ? spec::FlashLibrary::any
                                                         : spec::named_in<spec::FlashLibrary>(row, "library")};
      const auto kind = spec::named_in<KernelKind>(row, "kind");
      const double fixed = row.number("fixed [us]") * 1e-6;
      if (kind == KernelKind::product) {
        products[key] = {row.number("share"),           fixed,
                         row.number("depth"),           row.number_or("units", 0),
                         row.number_or("last wave", 0), row.number_or("halving", 0),
                         row.number_or("cast", 0),      row.number_or("grouped", 1),
                         row.number_or("spread", 0)};
      } else {
        (kind == KernelKind::attention ? forward : backward)[key] = {
            row.number("share"),           fixed,
            row.number("depth"),           row.number("exponentials"),
            row.number("per exponential"), row.number_or("spread", 0)};
      }
    }
  }
};

const KernelTable& kernel_table() {
  static const KernelTable kTable;
  return kTable;
}

template <class Kernel>
const Kernel* kernel_of(const std::map<Key, Kernel>& kernels, const Key& key) {
  const auto found = kernels.find(key);
  return found == kernels.end() ? nullptr : &found->second;
}

/// Returns the factor by which tiles and their waves lengthen the arithmetic of a product.
double tile_factor(const ProductKernel& kernel, double m, double n) {
  if (!(kernel.units > 0)) return 1;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns, halvings] : kTiles) {
    const double waves = std::ceil(m / rows) * std::ceil(n / columns) / kernel.units;
    const double counted = waves + kernel.last_wave * (std::ceil(waves) - waves);
    least = std::min(least, rows * columns * kernel.units * counted * (1 + kernel.halving * halvings));
  }
  return least / (m * n);
}

}  // namespace

double slowed_beside_communication(const spec::DeviceSpec& device, spec::Precision precision) {
  constexpr double kMean = 0.189;
  const bool by_kernels = precision == spec::Precision::bf16 || spec::casts_operands(precision);
  return device.has_kernels() && by_kernels ? kMean : 0;
}

std::optional<KernelRates> kernel_rates(const spec::DeviceSpec& device, KernelFormat format) {
  KernelRates rates{std::max(device.bf16_flops, device.fp16_flops), device.memory_bandwidth, device.memory_efficiency};
  if (format == KernelFormat::fp8 || format == KernelFormat::fp8_block) rates.peak = device.fp8_flops;
  if (format == KernelFormat::nvfp4) rates.peak = device.fp4_flops > 0 ? 2 * device.fp8_flops : 0;
  if (!(rates.peak > 0)) return std::nullopt;
  return rates;
}

DeviceKernels kernels_of(const std::string& device) {
  static const std::map<std::string, DeviceKernels> kDevices = [] {
    const FactTable table(tables::kKernelFamilies, {"device", "family", "measured", "steps", "date", "source"});
    std::map<std::string, DeviceKernels> devices;
    for (const FactTable::Row& row : table.rows())
      devices[row.text("device")] = {family_in(row), row.yes("measured"), row.yes("steps")};
    return devices;
  }();
  const auto found = kDevices.find(device);
  return found == kDevices.end() ? DeviceKernels{} : found->second;
}

const ProductKernel* product_kernel(const std::string& family, KernelFormat format) {
  return kernel_of(kernel_table().products, {family, format, spec::FlashLibrary::any});
}

ProductKernel without_cast(const std::string& family, const ProductKernel& kernel) {
  ProductKernel alone = kernel;
  alone.cast = 0;
  if (const ProductKernel* wide = product_kernel(family, KernelFormat::bits16))
    alone.fixed = std::min(alone.fixed, wide->fixed);
  return alone;
}

const AttentionKernel* attention_kernel(const std::string& family, KernelFormat format, bool backward,
                                        spec::FlashLibrary library) {
  const std::map<Key, AttentionKernel>& kernels = backward ? kernel_table().backward : kernel_table().forward;
  const AttentionKernel* own = kernel_of(kernels, {family, format, library});
  return own != nullptr ? own : kernel_of(kernels, {family, format, spec::FlashLibrary::any});
}

double shape_factor(const ProductKernel& kernel, const Product& product) {
  if (!(product.m >= 1) || !(product.n >= 1) || !(product.k >= 1) || !std::isfinite(product.m * product.n * product.k))
    throw std::logic_error("a product needs rows, columns and depth above 0");
  return (1 + kernel.depth / product.k) * tile_factor(kernel, product.m, product.n);
}

double product_seconds(const ProductKernel& kernel, const KernelRates& rates, const Product& product) {
  const auto& [m, n, k, element] = product;
  constexpr double kResult = 2;  // bytes per number of the product's result
  constexpr double kCast = 3;    // bytes per number of a cast: two in, one out
  const double arithmetic = 2 * m * n * k * shape_factor(kernel, product) / (kernel.share * rates.peak);
  const double bytes = element * (m * k + k * n) + kResult * m * n;
  const double cast = kernel.cast > 0 ? kCast * m * k / (kernel.cast * rates.bandwidth) : 0;
  return kernel.fixed + std::max(arithmetic, bytes / (rates.streamed * rates.bandwidth)) + cast;
}

double attention_flops(double pairs, double head_size, bool backward) {
  return kFlopsPerPair * pairs * head_size * (backward ? kBackwardFlops : 1);
}

double attention_seconds(const AttentionKernel& kernel, const KernelRates& rates, const FusedAttention& attention) {
  if (!(attention.flops >= 0) || !(attention.head_size > 0) || !(attention.seen > 0))
    throw std::logic_error("attention needs heads and positions");
  const double pairs =
      attention.flops / (attention.backward ? kBackwardFlops : 1) / (kFlopsPerPair * attention.head_size);
  const double exponentials = pairs * (attention.backward ? kBackwardExponentials : 1);
  const double work =
      std::max(attention.flops / kernel.share, exponentials * kernel.per_exponential / kernel.exponentials);
  return kernel.fixed + (1 + kernel.length / attention.seen) * work / rates.peak;
}

}  // namespace dadsim::sim
