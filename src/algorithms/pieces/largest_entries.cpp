#include "algorithms/pieces/largest_entries.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::Index;

constexpr double kEntry = 4.0;  // bytes

step::Expression entries() { return step::extent::in() * step::extent::out(); }

/// M = G + E; the threshold by radix selection, 8 bits of the magnitudes in each of four passes (Alabi et al., ACM
/// Journal of Experimental Algorithmics 17, 2012); one more pass that writes the kept entries and zeros in their place.
step::Work select_work(const step::Expression& kept) {
  constexpr double kPasses = 4.0;
  return {.flops = (1.0 + kPasses + 1.0) * entries(),
          .bytes_moved = kEntry * ((3.0 + kPasses + 1.0) * entries() + 3.0 * kept),
          .launches = 1.0 + kPasses + 1.0};
}

/// G = 0, and the entries of all sites added one site after the other: value and index read, entry read and written.
step::Work add_work(const step::Expression& kept, double sites) {
  return {.flops = sites * kept, .bytes_moved = kEntry * (entries() + 4.0 * sites * kept), .launches = 1.0 + sites};
}

/// The bits of the magnitude: they are ordered as it is, with NaN above all.
std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU; }

struct Threshold {
  std::uint32_t magnitude = 0;  ///< the least that is kept
  Index equals = 0;             ///< entries of just that magnitude that are kept
};

/// The threshold of the `count` largest entries: one radix pass over exponents and three bits of mantissas, and a
/// selection within the one bin that the last of them is in. Selecting among all entries takes several times as long.
Threshold threshold_of(const float* entries, Index size, Index count) {
  constexpr int kShift = 20;
  constexpr std::size_t kBins = std::size_t{1} << (31 - kShift);
  constexpr std::size_t kLanes = 4;  // neighbours often are of the same bin: counting one must not wait for the other
  std::vector<std::uint32_t> counts(kLanes * kBins);
  for (Index i = 0; i < size; ++i)
    ++counts[(static_cast<std::size_t>(i) % kLanes) * kBins + (magnitude(entries[i]) >> kShift)];
  const auto in_bin = [&](std::size_t bin) {
    Index sum = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += counts[lane * kBins + bin];
    return sum;
  };
  std::size_t bin = kBins - 1;
  Index above = 0;
  while (above + in_bin(bin) < count) above += in_bin(bin--);

  std::vector<std::uint32_t> members;
  members.reserve(static_cast<std::size_t>(in_bin(bin)));
  for (Index i = 0; i < size; ++i) {
    if (const std::uint32_t m = magnitude(entries[i]); m >> kShift == bin) members.push_back(m);
  }
  const auto last = members.begin() + (count - above - 1);
  std::nth_element(members.begin(), last, members.end(), std::greater<>());
  return {*last, static_cast<Index>(std::count(members.begin(), last + 1, *last))};
}

}  // namespace

Kept take_largest(models::Matrix& matrix, Index count) {
  const Index size = matrix.size();
  if (count < 1 || count > size || size > std::numeric_limits<std::int32_t>::max()) {
    throw std::logic_error("top-k: as many entries as the matrix has, at most");
  }
  float* entries = matrix.data();
  auto [threshold, equals_left] = threshold_of(entries, size, count);
  Kept kept{models::Matrix(count, 1), std::vector<std::int32_t>(static_cast<std::size_t>(count))};
  Index at = 0;
  for (Index i = 0; i < size; ++i) {
    const std::uint32_t m = magnitude(entries[i]);
    if (m < threshold || (m == threshold && equals_left-- <= 0)) continue;
    kept.values(at) = entries[i];
    kept.indices[static_cast<std::size_t>(at++)] = static_cast<std::int32_t>(i);
    entries[i] = 0.0F;
  }
  return kept;
}

void add_kept(const models::Matrix& values, std::span<const std::int32_t> indices, models::Matrix& sum) {
  for (std::size_t i = 0; i < indices.size(); ++i) sum.data()[indices[i]] += values(static_cast<Index>(i), 0);
}

std::vector<Kept> take_largest_of_sites(TrainingStep& step, std::size_t l, double fraction,
                                        std::vector<models::LayerGradient>& memory) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  step.charge(step::Phase::factorise, step::Role::workers, {select_work(step::extent::kept(fraction))});
  memory.resize(step.sites());
  std::vector<Kept> chosen(step.sites());
  parallel_for(step.sites(), [&](std::size_t s) {
    if (memory[s].weight.size() == 0) memory[s].weight.setZero(weights.out(), weights.in());
    memory[s].bias.setZero(weights.bias.size());
    add_to(s, memory[s]);
    chosen[s] = take_largest(memory[s].weight, step::kept_entries(fraction, weights.in(), weights.out()));
  });
  return chosen;
}

models::Matrix sum_of_lists(TrainingStep& step, std::size_t l, double fraction, const Rows& lists) {
  const auto sites = static_cast<double>(step.sites());
  step.charge(step::Phase::weight_gradient, step::Role::workers, {add_work(step::extent::kept(fraction), sites)});
  models::Matrix sum = models::Matrix::Zero(step.weights(l).out(), step.weights(l).in());
  add_kept(lists[0], lists.whole.front(), sum);
  return sum;
}

}  // namespace dadsim::algorithms
