#include "algorithms/forward/perturbation.hpp"

#include <boost/random/normal_distribution.hpp>

#include "algorithms/cost.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Operations per normal number. Philox takes ten rounds of two products and four exclusive ors for four 32-bit words:
/// 15 operations a word. The Box–Muller transform turns two words into two normal numbers, at about the same cost.
constexpr double kDrawOperations = 30.0;

RandomStream stream(std::uint64_t seed, std::size_t matrix, std::int64_t number) {
  return {seed, Purpose::perturbation, static_cast<std::uint32_t>(matrix), static_cast<std::uint32_t>(number)};
}

}  // namespace

std::uint64_t seed_of_site(const TrainingStep& step, std::size_t site) {
  // Uses other seeds for directions than the run's.
  RandomStream random(step.seed(), Purpose::perturbation, static_cast<std::uint32_t>(site),
                      static_cast<std::uint32_t>(step.number()));
  const std::uint64_t high = random();
  return high << 32U | random();
}

SeedWords words_of(std::uint64_t seed) {
  return {static_cast<std::int32_t>(static_cast<std::uint32_t>(seed)),
          static_cast<std::int32_t>(static_cast<std::uint32_t>(seed >> 32U))};
}

std::uint64_t seed_of(SeedWords words) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(words.high)) << 32U |
         static_cast<std::uint32_t>(words.low);
}

models::LayerGradient draw_weights(std::uint64_t seed, std::size_t matrix, std::int64_t number, Eigen::Index out,
                                   Eigen::Index in, bool bias) {
  RandomStream random = stream(seed, matrix, number);
  boost::random::normal_distribution<float> normal;
  models::LayerGradient v{models::Matrix(out, in), models::Vector(bias ? out : 0)};
  for (Eigen::Index i = 0; i < v.weight.size(); ++i) v.weight.data()[i] = normal(random);
  for (float& x : v.bias) x = normal(random);
  return v;
}

models::Matrix draw_activities(const TrainingStep& step, const std::vector<std::uint64_t>& seeds, std::size_t matrix,
                               std::int64_t number, Eigen::Index rows, Eigen::Index out) {
  models::Matrix u(rows, out);
  const std::vector<Eigen::Index> first = first_rows(step, rows);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    RandomStream random = stream(seeds[site], matrix, number);
    boost::random::normal_distribution<float> normal;
    for (Eigen::Index i = first[site] * out; i < first[site + 1] * out; ++i) u.data()[i] = normal(random);
  }
  return u;
}

std::vector<Eigen::Index> first_rows(const TrainingStep& step, Eigen::Index rows) {
  std::vector<Eigen::Index> first{0};
  for (std::size_t site = 0; site < step.sites(); ++site) first.push_back(first.back() + step.samples(site));
  const Eigen::Index per_sample = rows / first.back();
  for (Eigen::Index& row : first) row *= per_sample;
  return first;
}

step::Work draw_work(const step::Expression& count) {
  return {.flops = kDrawOperations * count, .bytes_moved = cost::kFloatBytes * count, .launches = 1.0};
}

step::Work tangent_work(double groups) {
  return {.flops = 2.0 / groups * step::extent::forward_macs(),
          .bytes_moved = cost::kFloatBytes * (step::extent::inputs() + 1.0 / groups * step::extent::parameters() +
                                              3.0 * step::extent::outputs()),
          .launches = groups + 1.0};
}

step::Work entry_tangent_work() {
  using step::extent::forward_macs, step::extent::gradient_macs;
  // Leaves out the product with the weights, which an embedding lacks: it looks rows up.
  return {.flops = 2.0 * (forward_macs() - step::extent::min({forward_macs(), gradient_macs()})),
          .bytes_moved = cost::kFloatBytes * 3.0 * step::extent::outputs(),
          .launches = 1.0};
}

step::Work moved_weights_work() {
  return {.flops = 2.0 * step::extent::gradient_macs(),
          .bytes_moved = cost::kFloatBytes * (step::extent::inputs() + step::extent::parameters() +
                                              2.0 * step::extent::rows() * step::extent::out()),
          .launches = 1.0};
}

step::Work repeated(const step::Work& work, double times) {
  return {times * work.flops, times * work.bytes_moved, times * work.launches};
}

}  // namespace dadsim::algorithms
