#include "algorithms/private/noisy_sum.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::Index;

constexpr std::size_t kExamplesAtOnce = 16;

/// A block of rows divided by its largest magnitude, which is kept separately, because squares of floats overflow or
/// vanish at 1e±19.
struct Normalised {
  models::Matrix rows;
  double scale = 0;
};

Normalised normalised(const models::ConstBlock& rows) {
  const float largest = rows.size() == 0 ? 0.0F : rows.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (!(largest > 0) || !std::isfinite(largest)) return {models::Matrix::Zero(rows.rows(), rows.cols()), largest};
  return {rows / largest, largest};
}

}  // namespace

ExampleNorms::ExampleNorms(const TrainingStep& step) {
  Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  squares_.resize(static_cast<std::size_t>(all));
}

void ExampleNorms::add_product(const models::ConstBlock& u, const models::ConstBlock& v) {
  const Index rows = u.rows() / examples();
  const bool through_gram = rows * rows * (u.cols() + v.cols() + 1) <= (rows + 1) * u.cols() * v.cols();
  parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto first = static_cast<Index>(i) * rows;
      const Normalised a = normalised(u.middleRows(first, rows));
      const Normalised b = normalised(v.middleRows(first, rows));
      double square = 0;
      if (rows == 1) {
        square = static_cast<double>(a.rows.squaredNorm()) * static_cast<double>(b.rows.squaredNorm());
      } else if (through_gram) {
        models::Matrix of_a(rows, rows), of_b(rows, rows);
        of_a.noalias() = models::counted(a.rows * a.rows.transpose());
        of_b.noalias() = models::counted(b.rows * b.rows.transpose());
        // Clamps the sum, whose products have either sign: it is negative only through rounding.
        square = std::max(0.0, of_a.cast<double>().cwiseProduct(of_b.cast<double>()).sum());
      } else {
        models::Matrix product(u.cols(), v.cols());
        product.noalias() = models::counted(a.rows.transpose() * b.rows);
        square = product.squaredNorm();
      }
      const double scale = a.scale * b.scale;
      squares_[i] += square * scale * scale;
    }
  });
}

void ExampleNorms::add_masked_product(const models::ConstBlock& u, const models::ConstBlock& v,
                                      const models::Matrix& mask) {
  const Index rows = u.rows() / examples();
  if (rows == 1) {
    // With one row each, the squares of u_j v_k over the mask are (u ⊙ u)ᵀ S (v ⊙ v): one product for all examples.
    models::Matrix u2(u.rows(), u.cols()), v2(v.rows(), v.cols());
    std::vector<double> scales(squares_.size());
    parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<Index>(i);
        const Normalised a = normalised(u.row(row));
        const Normalised b = normalised(v.row(row));
        u2.row(row) = a.rows.cwiseAbs2();
        v2.row(row) = b.rows.cwiseAbs2();
        scales[i] = a.scale * b.scale;
      }
    });
    models::Matrix over_mask(u.rows(), v.cols());
    over_mask.noalias() = models::counted(u2 * mask);
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      const auto row = static_cast<Index>(i);
      squares_[i] += static_cast<double>(over_mask.row(row).dot(v2.row(row))) * scales[i] * scales[i];
    }
    return;
  }
  parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
    models::Matrix product(u.cols(), v.cols());
    for (std::size_t i = begin; i < end; ++i) {
      const auto first = static_cast<Index>(i) * rows;
      const Normalised a = normalised(u.middleRows(first, rows));
      const Normalised b = normalised(v.middleRows(first, rows));
      product.noalias() = models::counted(a.rows.transpose() * b.rows);
      const double scale = a.scale * b.scale;
      squares_[i] += static_cast<double>(product.cwiseProduct(mask).squaredNorm()) * scale * scale;
    }
  });
}

void ExampleNorms::add_sum(const models::ConstBlock& u) {
  const Index rows = u.rows() / examples();
  for (std::size_t i = 0; i < squares_.size(); ++i) {
    squares_[i] += u.middleRows(static_cast<Index>(i) * rows, rows).colwise().sum().cast<double>().squaredNorm();
  }
}

double ExampleNorms::norm(Index example) const {
  return std::sqrt(squares_[static_cast<std::size_t>(example)]) * static_cast<double>(examples());
}

models::Vector ExampleNorms::factors(double clip, double batch) const {
  models::Vector factors(examples());
  for (Index i = 0; i < examples(); ++i) {
    const double length = norm(i);
    const double clipped = !std::isfinite(length) ? 0.0 : length <= clip ? 1.0 : clip / length;
    factors(i) = static_cast<float>(clipped * static_cast<double>(examples()) / batch);
  }
  return factors;
}

models::Matrix scaled_rows(const models::ConstBlock& rows, const models::Vector& factors) {
  const Index per_example = factors.size() == 0 ? 0 : rows.rows() / factors.size();
  models::Matrix scaled(rows.rows(), rows.cols());
  for (Index i = 0; i < factors.size(); ++i) {
    scaled.middleRows(i * per_example, per_example) = factors(i) * rows.middleRows(i * per_example, per_example);
  }
  return scaled;
}

step::Work times(const step::Expression& times, const step::Work& work) {
  return {times * work.flops, times * work.bytes_moved, times * work.launches};
}

std::vector<step::Work> product_norm_work(const step::Expression& m, const step::Expression& n) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  const step::Expression t = rows_per_sample();
  return {{.flops = 2.0 * rows() * t * (m + n + 1.0),
           .bytes_moved = cost::kFloatBytes * (rows() * (m + n) + 4.0 * rows() * t),
           .launches = 3.0},
          {.flops = 2.0 * rows() * m * n + 2.0 * samples() * m * n,
           .bytes_moved = cost::kFloatBytes * (rows() * (m + n) + 2.0 * samples() * m * n),
           .launches = 2.0}};
}

step::Work masked_norm_work(const step::Expression& m, const step::Expression& n) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = 2.0 * rows() * m * n + rows() * m + 3.0 * rows() * n,
          .bytes_moved = cost::kFloatBytes * (2.0 * rows() * (m + n) + m * n),
          .launches = 4.0};
}

step::Work sum_norm_work(const step::Expression& m) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = (rows() + 2.0 * samples()) * m, .bytes_moved = cost::kFloatBytes * rows() * m, .launches = 2.0};
}

step::Work scale_rows_work(const step::Expression& m) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = rows() * m, .bytes_moved = cost::kFloatBytes * 2.0 * rows() * m, .launches = 1.0};
}

void ExampleNorms::add_layer(TrainingStep& step, std::size_t l) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  step.charge(step::Phase::weight_gradient, step::Role::workers, product_norm_work(out(), in()));
  step.charge(step::Phase::weight_gradient, step::Role::workers, {times(bias(), sum_norm_work(out()))});
  add_product(step.deltas(l), step.inputs(l));
  if (step.weights(l).has_bias()) add_sum(step.deltas(l));
}

models::Matrix clipped_deltas(TrainingStep& step, std::size_t l, const models::Vector& factors) {
  step.charge(step::Phase::weight_gradient, step::Role::workers, {scale_rows_work(step::extent::out())});
  step.charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  return scaled_rows(step.deltas(l), factors);
}

namespace {

/// Operations per normal number. Philox4x32-10 takes ten rounds of eight operations for four numbers. The Box–Muller
/// transform takes a logarithm, a root, a sine and a cosine for two numbers, some ten operations each.
constexpr double kFlopsPerNormal = 40.0;

step::Work draw_work(const step::Expression& elements) {
  constexpr double kReadAndWritten = 8.0;  // bytes per number
  return {.flops = kFlopsPerNormal * elements, .bytes_moved = kReadAndWritten * elements, .launches = 1.0};
}

/// Adds the noise of site number `site`; the number after the last site is the aggregator.
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
  if (options_.epsilon > 0 && !prepared_) throw std::logic_error("epsilon is set, but the noise is not prepared");
  Exchange& exchange = step.exchange();
  const std::size_t sites = step.sites();
  const double deviation = sigma_ * options_.clip / batch;
  const bool noisy = sigma_ > 0;
  if (options_.noise == NoiseBy::aggregator) {
    if (exchange.mode() != spec::ExchangeMode::aggregator)
      throw std::logic_error("noise of an aggregator needs an aggregator");
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
    if (options_.noise != NoiseBy::each_site)
      throw std::logic_error("compression before the sum needs noise=\"per-site\"");
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
