#include "algorithms/pieces/subspace.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {

namespace {

/// Share of a column's length below which its remainder is fp32 rounding noise.
constexpr float kRoundingNoise = 1e-6F;
/// Work of half a step for a basis with `rows` rows: orthonormalising it, M = G + E, the product with the basis, and
/// the new E.
step::Work project_half_work(const step::Expression& rows, const step::Expression& rank) {
  const step::Expression gram_schmidt = 4.0 * rank * rank * rows;
  return {.flops = gram_schmidt + (4.0 * rank + 2.0) * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes * (0.5 * gram_schmidt + 6.0 * weights_of_matrix() +
                                              2.0 * rank * (step::extent::in() + step::extent::out())),
          .launches = 6.0 * rank + 3.0};
}

/// Returns whether each site has a matrix of its own; otherwise one matrix is the sum over all sites.
bool of_sites(TrainingStep& step) { return step.exchange().compresses() || step.sites_change(); }

/// Returns the index of a site's memory.
std::size_t place(TrainingStep& step, std::size_t i) { return of_sites(step) ? step.among_all(i) : 0; }

/// Returns the number of matrices that are summed in an exchange.
std::size_t summands(TrainingStep& step) { return step.exchange().compresses() ? step.sites() : 1; }

/// Sums the matrices unless messages are compressed.
std::vector<models::Matrix> summed_where_linear(TrainingStep& step, std::vector<models::Matrix> of_each) {
  for (; of_each.size() > summands(step); of_each.pop_back()) of_each.front() += of_each.back();
  return of_each;
}

}  // namespace

step::Work project_work(const step::Expression& rank) {
  return {.flops = weights_of_matrix() + 2.0 * rank * weights_of_matrix(),
          .bytes_moved =
              cost::kFloatBytes * (4.0 * weights_of_matrix() + rank * (step::extent::in() + step::extent::out())),
          .launches = 2.0};
}

step::Work project_back_work(const step::Expression& rank) {
  const step::Expression gram_schmidt = 4.0 * rank * rank * step::extent::out();
  return {.flops = gram_schmidt + 2.0 * rank * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes *
                         (0.5 * gram_schmidt + weights_of_matrix() + rank * (step::extent::in() + step::extent::out())),
          .launches = 6.0 * rank + 1.0};
}

step::Work reconstruct_work(const step::Expression& rank) {
  return {.flops = 2.0 * rank * weights_of_matrix() + weights_of_matrix(),
          .bytes_moved =
              cost::kFloatBytes * (4.0 * weights_of_matrix() + rank * (step::extent::in() + step::extent::out())),
          .launches = 2.0};
}

Gradients form_gradients(TrainingStep& step, std::size_t l, bool is_compressed, models::Matrix& beside) {
  Gradients gradients;
  models::Vector biases;
  if (!of_sites(step)) {
    step.form_gradient(l);
    biases = step.gradient(l).bias;
    gradients.push_back(std::move(step.gradient(l).weight));
  } else {
    const models::WeightsOf<float>& weights = step.weights(l);
    const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
    biases.setZero(weights.bias.size());
    for (std::size_t site = 0; site < step.sites(); ++site) {
      models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                                models::Vector::Zero(weights.bias.size())};
      add_to(site, own);
      biases += own.bias;
      gradients.push_back(std::move(own.weight));
    }
  }
  beside = models::Matrix::Zero(biases.size() + (is_compressed ? 0 : gradients.front().size()), 1);
  beside.topRows(biases.size()) = biases;
  for (std::size_t i = 0; i < gradients.size() && !is_compressed; ++i) {
    beside.bottomRows(gradients[i].size()) += gradients[i].reshaped<Eigen::RowMajor>();
  }
  return gradients;
}

void take_beside(TrainingStep& step, std::size_t l, bool is_compressed, const models::Matrix& beside) {
  const models::WeightsOf<float>& weights = step.weights(l);
  models::LayerGradient& gradient = step.gradient(l);
  gradient.bias = beside.topRows(weights.bias.size()).reshaped();
  if (is_compressed) return;
  gradient.weight = beside.bottomRows(weights.weight.size()).reshaped<Eigen::RowMajor>(weights.out(), weights.in());
}

bool SubspaceOptions::compresses(Eigen::Index in, Eigen::Index out) const {
  const auto r = static_cast<double>(std::min({static_cast<Eigen::Index>(rank), in, out}));
  return static_cast<double>(in * out) > least_compression * r * static_cast<double>(in + out);
}

step::Expression SubspaceOptions::compresses(const step::Expression& r) const {
  return step::extent::exceeds(weights_of_matrix(), least_compression * r * (step::extent::in() + step::extent::out()));
}

void draw_missing_columns(models::Matrix& basis, std::uint64_t seed, std::uint32_t layer, std::uint32_t step) {
  RandomStream random(seed, Purpose::factor_start, layer, step);
  boost::random::normal_distribution<float> normal;
  for (auto column : basis.colwise()) {
    if (!column.isZero(0)) continue;
    for (float& x : column) x = normal(random);
  }
}

void orthonormalise(models::Matrix& columns) {
  for (Eigen::Index k = 0; k < columns.cols(); ++k) {
    models::Vector v = columns.col(k);
    const auto before = columns.leftCols(k);
    const float length = v.stableNorm();
    for (int pass = 0; pass < 2; ++pass) {
      const models::Vector projections = models::counted(before.transpose() * v);
      v.noalias() -= models::counted(before * projections);
    }
    const float left = v.stableNorm();
    if (left <= kRoundingNoise * length) {
      columns.col(k).setZero();
    } else {
      columns.col(k) = v / left;
    }
  }
}

std::vector<models::Matrix> project(TrainingStep& step, std::size_t l, Gradients gradients, Subspace& state,
                                    const SubspaceOptions& options, const step::Expression& rank) {
  step.charge(step::Phase::factorise, step::Role::workers,
              {cost::only_where(options.compresses(rank), project_work(rank))});
  const models::WeightsOf<float>& weights = step.weights(l);
  if (!options.compresses(weights.in(), weights.out())) return std::vector<models::Matrix>(summands(step));
  if (state.memory.empty()) {
    state.memory.assign(of_sites(step) ? step.all_sites() : 1, models::Matrix::Zero(weights.out(), weights.in()));
    state.basis.setZero(weights.in(), std::min({static_cast<Eigen::Index>(options.rank), weights.in(), weights.out()}));
  }
  if (options.random_start) state.basis.setZero();
  draw_missing_columns(state.basis, step.seed(), static_cast<std::uint32_t>(l),
                       static_cast<std::uint32_t>(step.number()));
  std::vector<models::Matrix> projections(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    models::Matrix& memory = state.memory[place(step, i)];
    memory += gradients[i];
    projections[i].noalias() = models::counted(memory * state.basis);
  }
  return summed_where_linear(step, std::move(projections));
}

std::vector<models::Matrix> project_half(TrainingStep& step, std::size_t l, Gradients gradients,
                                         std::vector<models::Matrix>& memory, models::Matrix& basis, bool transposed,
                                         const SubspaceOptions& options, const step::Expression& rank) {
  step.charge(step::Phase::factorise, step::Role::workers,
              {cost::only_where(options.compresses(rank),
                                project_half_work(transposed ? step::extent::out() : step::extent::in(), rank))});
  const models::WeightsOf<float>& weights = step.weights(l);
  if (!options.compresses(weights.in(), weights.out())) return std::vector<models::Matrix>(summands(step));
  if (memory.empty())
    memory.assign(of_sites(step) ? step.all_sites() : 1, models::Matrix::Zero(weights.out(), weights.in()));
  if (basis.size() == 0) {
    basis.setZero(transposed ? weights.out() : weights.in(),
                  std::min({static_cast<Eigen::Index>(options.rank), weights.in(), weights.out()}));
  }
  draw_missing_columns(basis, step.seed(), static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(step.number()));
  orthonormalise(basis);
  std::vector<models::Matrix> projections(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    models::Matrix& m = memory[place(step, i)];
    m += gradients[i];
    if (transposed) {
      projections[i].noalias() = models::counted(m.transpose() * basis);
      m.noalias() -= models::counted(basis * projections[i].transpose());
    } else {
      projections[i].noalias() = models::counted(m * basis);
      m.noalias() -= models::counted(projections[i] * basis.transpose());
    }
  }
  return summed_where_linear(step, std::move(projections));
}

void copy_for_the_error(TrainingStep& step, const SubspaceOptions& options, const step::Expression& rank) {
  const step::Work copy{.flops = 0.0, .bytes_moved = 2.0 * cost::kFloatBytes * weights_of_matrix(), .launches = 1.0};
  step.charge(step::Phase::factorise, step::Role::workers, {cost::only_where(options.compresses(rank), copy)});
}

std::vector<models::Matrix> project_back(TrainingStep& step, models::Matrix& columns, const Subspace& state,
                                         const SubspaceOptions& options, const step::Expression& rank) {
  step.charge(step::Phase::factorise, step::Role::workers,
              {cost::only_where(options.compresses(rank), project_back_work(rank))});
  if (columns.size() == 0) return std::vector<models::Matrix>(summands(step));
  orthonormalise(columns);
  std::vector<models::Matrix> projections(of_sites(step) ? step.sites() : 1);
  for (std::size_t i = 0; i < projections.size(); ++i) {
    projections[i].noalias() = models::counted(state.memory[place(step, i)].transpose() * columns);
  }
  return summed_where_linear(step, std::move(projections));
}

models::Matrix reconstruct(TrainingStep& step, const models::Matrix& columns, Subspace& state,
                           const SubspaceOptions& options, const step::Expression& rank) {
  step.charge(step::Phase::merge, step::Role::workers,
              {cost::only_where(options.compresses(rank), reconstruct_work(rank))});
  if (columns.size() == 0) return {};
  models::Matrix gradient;
  gradient.noalias() = models::counted(columns * state.basis.transpose());
  if (!of_sites(step)) {
    state.memory.front() -= gradient;
  } else {
    Eigen::Index all = 0;
    for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
    for (std::size_t site = 0; site < step.sites(); ++site) {
      state.memory[place(step, site)] -= (static_cast<float>(step.samples(site)) / static_cast<float>(all)) * gradient;
    }
  }
  return gradient;
}

}  // namespace dadsim::algorithms
