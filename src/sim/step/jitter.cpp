#include "sim/step/jitter.hpp"

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "support/random.hpp"

namespace dadsim::sim {
namespace {

/// Returns exp(sigma z − sigma² / 2) with z standard normal; its mean is 1.
double factor(double sigma, std::uint64_t seed, std::size_t node, std::size_t step) {
  if (!(sigma > 0)) return 1;
  RandomStream stream(seed, Purpose::jitter, static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(step));
  return std::exp(boost::random::normal_distribution<double>(-sigma * sigma / 2, sigma)(stream));
}

}  // namespace

std::vector<double> Jitter::of_step(std::size_t step) const {
  if (jitter_ == spec::JitterSpec{}) return {};
  std::vector<double> factors;
  factors.reserve(nodes_);
  for (std::size_t node = 0; node < nodes_; ++node) factors.push_back(of(node, step));
  return factors;
}

double Jitter::of(std::size_t node, std::size_t step) const {
  const std::size_t number = node < numbers_.size() ? numbers_[node] : node;
  return factor(jitter_.spatial, seed_, number, 0) * factor(jitter_.temporal, seed_, number, first_ + step + 1);
}

}  // namespace dadsim::sim
