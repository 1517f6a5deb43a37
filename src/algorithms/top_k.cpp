#include "algorithms/top_k.hpp"

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

constexpr double kFloat = 4.0;  // bytes

step::Expression weights() { return step::extent::in() * step::extent::out(); }

/// What a layer has beside its matrix: its biases.
step::Expression beside_matrix() { return step::extent::parameters() + -1.0 * weights(); }

/// M = G + E; the threshold by radix selection, 8 bits of the magnitudes in each of four passes (Alabi et al., ACM
/// Journal of Experimental Algorithmics 17, 2012); one more pass that writes the kept entries and zeros in their place.
step::Work select_work(const step::Expression& kept) {
  constexpr double kPasses = 4.0;
  return {.flops = (1.0 + kPasses + 1.0) * weights(),
          .bytes_moved = kFloat * ((3.0 + kPasses + 1.0) * weights() + 3.0 * kept),
          .launches = 1.0 + kPasses + 1.0};
}

/// G = 0, and the entries of all sites added one site after the other: value and index read, entry read and written.
step::Work add_work(const step::Expression& kept, double sites) {
  return {.flops = sites * kept, .bytes_moved = kFloat * (weights() + 4.0 * sites * kept), .launches = 1.0 + sites};
}

/// Of the magnitude: orders as it does, and NaN above all.
std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU; }

struct Threshold {
  std::uint32_t magnitude = 0;  ///< the least that is kept
  Index equals = 0;             ///< entries of just that magnitude that are kept
};

/// Of the `count` largest: one radix pass over exponents and three bits of mantissas, and a selection within the one
/// bin that the last of them is in. Selecting among all entries takes several times as long.
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
  Kept kept{models::Matrix(count, 1), models::Matrix(count, 1)};
  Index at = 0;
  for (Index i = 0; i < size; ++i) {
    const std::uint32_t m = magnitude(entries[i]);
    if (m < threshold || (m == threshold && equals_left-- <= 0)) continue;
    kept.values(at) = entries[i];
    kept.indices(at++) = std::bit_cast<float>(static_cast<std::int32_t>(i));
    entries[i] = 0.0F;
  }
  return kept;
}

void add_kept(const Eigen::Ref<const models::Matrix>& values, const Eigen::Ref<const models::Matrix>& indices,
              models::Matrix& sum) {
  for (Index i = 0; i < values.rows(); ++i) sum.data()[std::bit_cast<std::int32_t>(indices(i, 0))] += values(i, 0);
}

void TopK::run(TrainingStep& step) {
  const step::Expression kept = step::extent::kept(fraction_);
  const auto sites = static_cast<double>(step.sites());
  Exchange& exchange = step.exchange();
  memory_.resize(step.matrices());
  std::vector<Pending<models::Matrix>> biases(step.matrices());
  std::vector<Pending<std::vector<models::Matrix>>> all(step.matrices());

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const models::WeightsOf<float>& weights = step.weights(l);
    step.record_weight_gradient();
    step.compute(step::Phase::factorise, step::Role::workers, {select_work(kept)});
    auto& memory = memory_[l];
    memory.resize(step.sites());
    std::vector<Kept> chosen(step.sites());
    parallel_for(step.sites(), [&](std::size_t s) {
      if (memory[s].weight.size() == 0) memory[s].weight.setZero(weights.out(), weights.in());
      memory[s].bias.setZero(weights.bias.size());
      step.add_weight_gradient(s, l, memory[s]);
      chosen[s] = take_largest(memory[s].weight, step::kept_entries(fraction_, weights.in(), weights.out()));
    });
    models::Vector bias = models::Vector::Zero(weights.bias.size());
    for (const models::LayerGradient& site : memory) bias += site.bias;
    biases[l] = exchange.sum(beside_matrix(), bias);
    all[l] = exchange.concatenate(
        {{.elements = kept, .of = [&](std::size_t s) -> models::ConstBlock { return chosen[s].values; }},
         {.elements = kept,
          .of = [&](std::size_t s) -> models::ConstBlock { return chosen[s].indices; },
          .last_layer_only = false,
          .type = step::ElementType::int32}},
        {sites * kept, sites * kept});
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) {
    models::LayerGradient& gradient = step.gradient(l);
    gradient.bias = biases[l].wait().reshaped();
    const std::vector<models::Matrix>& entries = all[l].wait();
    step.compute(step::Phase::weight_gradient, step::Role::workers, {add_work(kept, sites)});
    gradient.weight.setZero(step.weights(l).out(), step.weights(l).in());
    add_kept(entries[0], entries[1], gradient.weight);
  });
}

AlgorithmInfo top_k_info() {
  return {
      .name = "top-k",
      .description = "Sites share the largest entries of their gradients and keep the others for the next step.",
      .source =
          "Aji, Heafield, EMNLP 2017, arXiv 1704.05021; Stich, Cordonnier, Jaggi, Sparsified SGD with Memory, "
          "NeurIPS 2018, arXiv 1809.07599",
      .payload = "2k with k = fraction·pq (values and indices), and the q biases",
      .sharing = Sharing::one_network,
      .exact = false,
      .parameters = {{.name = "fraction",
                      .type = spec::ParameterSpec::Type::real,
                      .minimum = 1e-6,
                      .maximum = 1,
                      .default_value = "0.01",
                      .choices = {},
                      .description = "share of the entries of every matrix that a site sends, rounded up"}},
      .make =
          [](const spec::ParameterValues& values) { return std::make_unique<TopK>(std::stod(values.at("fraction"))); },
      // The memory of the error.
      .state =
          [](const spec::ParameterValues&) {
            return estimate::AlgorithmState{weights(), 0, true};
          }};
}

}  // namespace dadsim::algorithms
