#include "estimate/bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

namespace dadsim::estimate {
namespace {

constexpr std::array kKins{
    Kin{"compute.same-workload", "compute.several-devices", "calibrated on this workload, one device"},
    Kin{"compute.several-devices", "compute.same-kind", "calibrated on this workload, one device or one server"},
    Kin{"compute.same-kind", "compute.assumed", "calibrated on another workload of the same kind of layer"},
    Kin{"compute.assumed", "", "assumed of the class of the device"},
    Kin{"network.tcp", "network.assumed", "fitted and held against transfers over TCP"},
    Kin{"network.tcp-overflow", "network.tcp", "fitted and held against transfers over TCP that lose packets"},
    Kin{"network.gloo", "network.tcp", "held against PyTorch over gloo"},
    Kin{"network.nvlink", "network.fabric", "calibrated on nccl-tests inside a node"},
    Kin{"network.rdma", "network.fabric", "calibrated on nccl-tests over adapters or PCIe"},
    Kin{"network.small", "network.fabric", "held against nccl-tests below 1 MiB"},
    Kin{"network.fabric", "network.assumed", "held against nccl-tests", true},
    Kin{"network.assumed", "", "a network for which nothing was measured", true},
};

/// The end of a spread on the one side or the other.
constexpr double kTail = 0.05;

const KinSpread& spread_in(std::span<const KinSpread> spreads, const std::string& name) {
  const auto found = std::ranges::find_if(spreads, [&](const KinSpread& one) { return name == one.kin; });
  if (found == spreads.end()) throw std::logic_error(fmt::format("no spread of '{}'", name));
  return *found;
}

bool is_below(std::string_view name, std::string_view above) {
  while (!name.empty() && name != above) name = kin(name).parent;
  return !name.empty();
}

/// log of the ends.
struct LogEnds {
  double low, high;
};
LogEnds log_ends(const KinSpread& spread) { return {std::log(spread.low), std::log(spread.high)}; }

double sum_of(std::span<const TimePart> parts) {
  double sum = 0;
  for (const TimePart& part : parts) sum += part.seconds;
  return sum;
}

}  // namespace

std::span<const Kin> kins() { return kKins; }

const Kin& kin(std::string_view name) {
  const auto found = std::ranges::find_if(kKins, [&](const Kin& one) { return name == one.name; });
  if (found == kKins.end()) throw std::logic_error(fmt::format("'{}' is no kin of rows of validation", name));
  return *found;
}

std::span<const KinSpread> kin_spreads() {
  static constexpr std::array kSpreads{
#include "estimate/residuals.inc"
  };
  return kSpreads;
}

Spread spread_of(std::string_view name, std::span<const Residual> residuals) {
  std::vector<double> values;
  for (const Kin* at = &kin(name);; at = &kin(at->parent)) {
    if (at->gathers) values.clear();
    for (const Residual& one : residuals) {
      if (at->gathers ? is_below(one.kin, at->name) : one.kin == at->name) values.push_back(one.log_ratio);
    }
    if (values.size() >= kLeastRows || std::string_view(at->parent).empty()) break;
  }
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  // The nudges keep (n + 1)/20 where it is a whole number.
  const auto low = static_cast<std::size_t>(std::max(1.0, std::floor(kTail * (n + 1) + 1e-9)));
  const auto high = static_cast<std::size_t>(std::min(n, std::ceil((1 - kTail) * (n + 1) - 1e-9)));
  return {std::min(1.0, std::exp(values[low - 1])), std::max(1.0, std::exp(values[high - 1])), values.size()};
}

Band band_of(std::span<const TimePart> parts, std::span<const KinSpread> spreads) {
  const double sum = sum_of(parts);
  if (!(sum > 0)) return {};
  double below = 0;
  double above = 0;
  for (const TimePart& part : parts) {
    const KinSpread& spread = spread_in(spreads, part.kin);
    below += std::pow(part.seconds * (1 - spread.low), 2);
    above += std::pow(part.seconds * (spread.high - 1), 2);
  }
  return {1 - std::sqrt(below) / sum, 1 + std::sqrt(above) / sum};
}

Band ratio_band(std::span<const TimePart> a, std::span<const TimePart> b, std::span<const KinSpread> spreads) {
  const double sum_a = sum_of(a);
  const double sum_b = sum_of(b);
  if (!(sum_a > 0) || !(sum_b > 0)) return {};
  std::map<std::pair<std::string, std::string>, double> shares;  // (cause, kin) → share in a less share in b
  const auto key = [](const TimePart& part, const char* whose) {
    return std::pair(part.cause.empty() ? std::string("only ") + whose : part.cause, part.kin);
  };
  for (const TimePart& part : a) shares[key(part, "a")] += part.seconds / sum_a;
  for (const TimePart& part : b) shares[key(part, "b")] -= part.seconds / sum_b;
  double below = 0;
  double above = 0;
  for (const auto& [of, share] : shares) {
    const LogEnds ends = log_ends(spread_in(spreads, of.second));
    // Where b has more of it than a, the ratio is the less the longer it takes.
    below += std::pow(share * (share > 0 ? ends.low : ends.high), 2);
    above += std::pow(share * (share > 0 ? ends.high : ends.low), 2);
  }
  return {std::exp(-std::sqrt(below)), std::exp(std::sqrt(above))};
}

Estimate with_band(const Estimate& time, const Band& step) {
  const auto end = [&](const std::optional<double>& of_steps, double factor) {
    const double steps = of_steps && *of_steps > 0 && time.value > 0 ? std::log(*of_steps / time.value) : 0;
    return time.value * std::exp(std::copysign(std::hypot(steps, std::log(factor)), factor - 1));
  };
  Estimate both{time.value, end(time.low, step.low), end(time.high, step.high)};
  if (step.low >= 1 && time.low) both.low = *time.low;
  if (step.high <= 1 && time.high) both.high = *time.high;
  return both;
}

std::string basis_of(std::span<const TimePart> parts) {
  constexpr double kTold = 0.01;
  const double sum = sum_of(parts);
  std::vector<TimePart> sorted(parts.begin(), parts.end());
  std::ranges::stable_sort(sorted, [](const TimePart& a, const TimePart& b) { return a.seconds > b.seconds; });
  std::vector<std::string> bases;
  for (const TimePart& part : sorted) {
    if (part.seconds < kTold * sum) continue;
    std::string words = part.basis.empty() ? kin(part.kin).words : part.basis;
    if (std::ranges::find(bases, words) == bases.end()) bases.push_back(std::move(words));
  }
  return fmt::format("{}", fmt::join(bases, "; "));
}

}  // namespace dadsim::estimate
