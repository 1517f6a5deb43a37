#include "algorithms/private/noisy_sum.hpp"

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// A number of Philox4x32-10 takes ten rounds of eight operations for four; Box and Muller's transform a logarithm, a
/// root, a sine and a cosine for two, some ten operations each.
constexpr double kFlopsPerNormal = 40.0;

step::Work draw_work(const step::Expression& elements) {
  constexpr double kReadAndWritten = 8.0;  // bytes
  return {.flops = kFlopsPerNormal * elements, .bytes_moved = kReadAndWritten * elements, .launches = 1.0};
}

/// Site `sites` is the aggregator.
void add_noise(models::Matrix& row, double deviation, const TrainingStep& step, std::size_t l, std::size_t site) {
  RandomStream random(step.seed(), Purpose::privacy_noise, static_cast<std::uint32_t>(site * step.matrices() + l),
                      static_cast<std::uint32_t>(step.number()));
  boost::random::normal_distribution<float> normal(0.0F, static_cast<float>(deviation));
  for (float& x : row.reshaped()) x += normal(random);
}

}  // namespace

void NoisySum::prepare(const RunContext& run) {
  sigma_ = noise_multiplier_of(options_, run);
  prepared_ = true;
  if (!run.sampled) return;
  expected_rows_ = run.rows;
}

double NoisySum::batch(const TrainingStep& step, const ExampleNorms& norms) const {
  if (expected_rows_.empty()) return static_cast<double>(norms.examples());
  double expected = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) expected += expected_rows_.at(step.among_all(site));
  return expected;
}

models::Matrix NoisySum::Released::wait() {
  if (auto* rows = std::get_if<Pending<Rows>>(&pending_)) return std::move(rows->wait().parts.front());
  return std::move(std::get<Pending<models::Matrix>>(pending_).wait());
}

NoisySum::Released NoisySum::release(TrainingStep& step, std::size_t l, double batch, const step::Expression& elements,
                                     Eigen::Index size,
                                     const std::function<void(std::size_t site, models::Matrix& sum)>& add_to) const {
  if (options_.epsilon > 0 && !prepared_) throw std::logic_error("an ε is asked for, and nobody has told of the run");
  Exchange& exchange = step.exchange();
  const std::size_t sites = step.sites();
  const double deviation = sigma_ * options_.clip / batch;
  const bool noisy = sigma_ > 0;
  if (options_.noise == NoiseBy::aggregator) {
    if (exchange.mode() != spec::ExchangeMode::aggregator) throw std::logic_error("noise of an aggregator among peers");
    std::vector<models::Matrix> of_sites(sites, models::Matrix::Zero(1, size));
    for (std::size_t site = 0; site < sites; ++site) add_to(site, of_sites[site]);
    const Contribution own{.rows = 1.0,
                           .parts = {{elements, [&](std::size_t site) { return models::ConstBlock(of_sites[site]); }}},
                           .noise = {.of_all = deviation}};
    return Released(exchange.combine(own, [&](const Rows& all, step::Role who) {
      const auto count = static_cast<double>(sites);
      step.charge(step::Phase::add, who,
                  {{.flops = count * elements, .bytes_moved = 4.0 * (count + 1.0) * elements, .launches = 1.0}});
      models::Matrix sum = all.parts.front().row(0);
      for (std::size_t site = 1; site < sites; ++site) sum += all.parts.front().row(static_cast<Eigen::Index>(site));
      if (noisy) {
        step.charge(step::Phase::add, who, {draw_work(elements)});
        add_noise(sum, deviation, step, l, sites);
      }
      return Rows{1.0, {std::move(sum)}, {}};
    }));
  }
  const double share =
      options_.noise == NoiseBy::each_site ? deviation : deviation / std::sqrt(static_cast<double>(sites));
  if (noisy) step.charge(step::Phase::add, step::Role::workers, {draw_work(elements)}, false, true);
  const auto noisy_part = [&](std::size_t site, models::Matrix& sum) {
    add_to(site, sum);
    if (noisy) add_noise(sum, share, step, l, site);
  };
  if (exchange.compresses()) {
    if (options_.noise != NoiseBy::each_site) throw std::logic_error("what is compressed before it is private");
    std::vector<models::Matrix> of_sites(sites, models::Matrix::Zero(1, size));
    for (std::size_t site = 0; site < sites; ++site) noisy_part(site, of_sites[site]);
    return Released(exchange.sum(elements, std::move(of_sites)));
  }
  models::Matrix sum = models::Matrix::Zero(1, size);
  for (std::size_t site = 0; site < sites; ++site) noisy_part(site, sum);
  const auto part = [&](std::size_t site) {
    models::Matrix own = models::Matrix::Zero(1, size);
    noisy_part(site, own);
    return own;
  };
  return Released(exchange.sum_as_it_is(elements, std::move(sum), part,
                                        {.of_site = share, .of_all = share * std::sqrt(static_cast<double>(sites))}));
}

}  // namespace dadsim::algorithms
