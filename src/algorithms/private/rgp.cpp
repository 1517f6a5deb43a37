#include "algorithms/private/rgp.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <memory>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "algorithms/private/dp_sgd.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {

Carriers carriers_of(const models::Matrix& target, std::int64_t rank, std::uint64_t seed, std::uint32_t layer,
                     std::uint32_t step) {
  const Eigen::Index r = std::min({static_cast<Eigen::Index>(rank), target.rows(), target.cols()});
  RandomStream random(seed, Purpose::low_rank_start, layer, step);
  boost::random::normal_distribution<float> normal;
  Carriers carriers{models::Matrix(target.rows(), r), models::Matrix(target.cols(), r)};
  for (float& x : carriers.right.reshaped()) x = normal(random);
  carriers.left.noalias() = models::counted(target * carriers.right);
  orthonormalise(carriers.left);
  carriers.right.noalias() = models::counted(target.transpose() * carriers.left);
  orthonormalise(carriers.right);
  return carriers;
}

models::Matrix from_carriers(const Carriers& carriers, const models::ConstBlock& left_gradient,
                             const models::ConstBlock& right_gradient) {
  models::Matrix common, right, gradient;
  common.noalias() = models::counted(carriers.left.transpose() * left_gradient);  // Lᵀ G_L, r × r
  right = right_gradient;
  right.noalias() -= models::counted(carriers.right * common.transpose());
  gradient.noalias() = models::counted(left_gradient * carriers.right.transpose());
  gradient.noalias() += models::counted(carriers.left * right.transpose());
  return gradient;
}

step::Work carriers_work(const step::Expression& rank) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  // Counts the target, two products with it, and Gram–Schmidt twice per column.
  const step::Expression gram_schmidt = 4.0 * rank * rank * (in() + out());
  return {.flops = 3.0 * in() * out() + 4.0 * rank * in() * out() + gram_schmidt,
          .bytes_moved = cost::kFloatBytes * (5.0 * in() * out() + 0.5 * gram_schmidt + 2.0 * rank * (in() + out())),
          .launches = 4.0 + 12.0 * rank};
}

step::Work from_carriers_work(const step::Expression& rank) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  return {.flops = 4.0 * rank * in() * out() + 2.0 * rank * rank * (in() + out()),
          .bytes_moved = cost::kFloatBytes * (2.0 * in() * out() + 4.0 * rank * (in() + out())),
          .launches = 4.0};
}

namespace {

step::Expression entries_of_matrix() { return step::extent::in() * step::extent::out(); }

/// Returns min(r (in + out), in · out).
step::Expression numbers_of_gradient(const step::Expression& rank) {
  return step::extent::min({entries_of_matrix(), rank * (step::extent::in() + step::extent::out())});
}

/// Returns 1 if r (in + out) < in · out, else 0, as min(1, numbers saved by carriers).
step::Expression where_rank_is_low(const step::Expression& rank) {
  return step::extent::min({1.0, entries_of_matrix() - numbers_of_gradient(rank)});
}

bool is_low_rank(std::int64_t rank, Eigen::Index in, Eigen::Index out) {
  return std::min({static_cast<Eigen::Index>(rank), in, out}) * (in + out) < in * out;
}

/// Work of A R and Δ L.
step::Work into_carriers_work(const step::Expression& r) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  return {.flops = 2.0 * rows() * r * (in() + out()),
          .bytes_moved = cost::kFloatBytes * ((rows() + r) * (in() + out()) + 2.0 * rows() * r),
          .launches = 2.0};
}

/// Work of G_L, G_R and the biases' sums.
step::Work carrier_gradients_work(const step::Expression& r) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  return {.flops = 2.0 * rows() * r * (in() + out()) + rows() * bias() * out(),
          .bytes_moved = cost::kFloatBytes * ((rows() + r) * (in() + out()) + 2.0 * rows() * r),
          .launches = 3.0};
}

std::vector<step::Work> each_times(const step::Expression& factor, std::vector<step::Work> branches) {
  for (step::Work& work : branches) work = times(factor, work);
  return branches;
}

models::Matrix direction(const models::Matrix& matrix) {
  const float length = matrix.norm();
  if (length > 0) return matrix / length;
  return matrix;
}

}  // namespace

void Rgp::choose_carriers(TrainingStep& step, std::size_t l) {
  CarriedLayer& layer = layers_[l];
  const models::Matrix& weights = step.weights(l).weight;
  step.charge(step::Phase::factorise, step::Role::workers, {times(low_rank_, carriers_work(rank_))});
  if (layer.reference.size() == 0 || step.number() == options_.warm_up) layer.reference = weights;
  if (!is_low_rank(options_.rank, weights.cols(), weights.rows())) return;
  models::Matrix target = weights;
  if (step.number() >= options_.warm_up) {
    const models::Matrix update = direction(weights) - direction(layer.reference);
    if (!update.isZero(0)) target = update;
  }
  layer.carriers = carriers_of(target, options_.rank, step.seed(), static_cast<std::uint32_t>(l),
                               static_cast<std::uint32_t>(step.number()));
}

void Rgp::add_norms(TrainingStep& step, std::size_t l, ExampleNorms& norms) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  CarriedLayer& layer = layers_[l];
  const step::Expression as_it_is = 1.0 - low_rank_;
  const auto charge = [&](std::vector<step::Work> branches) {
    step.charge(step::Phase::weight_gradient, step::Role::workers, std::move(branches));
  };
  charge({times(low_rank_, into_carriers_work(rank_))});
  if (layer.mask) {
    charge({times(low_rank_, masked_norm_work(out(), rank_))});
    charge({times(low_rank_, masked_norm_work(in(), rank_))});
    charge({times(as_it_is, masked_norm_work(out(), in()))});
  } else {
    charge(each_times(low_rank_, product_norm_work(out(), rank_)));
    charge(each_times(low_rank_, product_norm_work(in(), rank_)));
    charge(each_times(as_it_is, product_norm_work(out(), in())));
  }
  charge({times(bias(), sum_norm_work(out()))});
  const auto add = [&](const models::ConstBlock& u, const models::ConstBlock& v, const models::Matrix* mask) {
    if (mask != nullptr) {
      norms.add_masked_product(u, v, *mask);
    } else {
      norms.add_product(u, v);
    }
  };
  const models::Matrix* first = layer.mask ? &layer.mask->first : nullptr;
  const models::Matrix* second = layer.mask ? &layer.mask->second : nullptr;
  if (layer.carriers) {
    layer.inputs.noalias() = models::counted(step.inputs(l) * layer.carriers->right);
    layer.deltas.noalias() = models::counted(step.deltas(l) * layer.carriers->left);
    add(step.deltas(l), layer.inputs, first);
    add(step.inputs(l), layer.deltas, second);
  } else {
    add(step.deltas(l), step.inputs(l), first);
  }
  if (step.weights(l).has_bias()) norms.add_sum(step.deltas(l));
}

NoisySum::Released Rgp::release(TrainingStep& step, std::size_t l, const models::Vector& factors, double batch) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  const CarriedLayer& layer = layers_[l];
  const auto charge = [&](const step::Work& work) {
    step.charge(step::Phase::weight_gradient, step::Role::workers, {work});
  };
  charge(scale_rows_work(out()));
  charge(times(low_rank_, scale_rows_work(rank_)));
  charge(times(low_rank_, carrier_gradients_work(rank_)));
  charge(times(1.0 - low_rank_, cost::weight_gradient(cost::Span::own_rows)));
  const models::WeightsOf<float>& weights = step.weights(l);
  const models::Matrix scaled = scaled_rows(step.deltas(l), factors);
  const models::Matrix scaled_deltas = layer.carriers ? scaled_rows(layer.deltas, factors) : models::Matrix();
  const Eigen::Index r = layer.carriers ? layer.carriers->left.cols() : 0;
  const Eigen::Index numbers = layer.carriers ? r * (weights.in() + weights.out()) : weights.weight.size();
  const Eigen::Index biases = weights.bias.size();
  const Eigen::Index kept = layer.mask ? static_cast<Eigen::Index>(layer.mask->indices.size()) : numbers;
  const step::Expression elements = released(numbers_of_gradient(rank_)) + beside_matrix();
  return noisy_.release(step, l, batch, elements, kept + biases, [&](std::size_t site, models::Matrix& sum) {
    const models::ConstBlock deltas = rows_of_site(step, scaled, site);
    if (deltas.rows() == 0) return;
    models::Matrix all;
    if (layer.mask) all.setZero(1, numbers);
    float* row = layer.mask ? all.data() : sum.data();
    if (layer.carriers) {
      Eigen::Map<models::Matrix>(row, weights.out(), r).noalias() +=
          models::counted(deltas.transpose() * rows_of_site(step, layer.inputs, site));
      Eigen::Map<models::Matrix>(row + weights.out() * r, weights.in(), r).noalias() +=
          models::counted(step.input(site, l).transpose() * rows_of_site(step, scaled_deltas, site));
    } else {
      Eigen::Map<models::Matrix>(row, weights.out(), weights.in()).noalias() +=
          models::counted(deltas.transpose() * step.input(site, l));
    }
    if (layer.mask) {
      for (Eigen::Index i = 0; i < kept; ++i) sum(i) += row[layer.mask->indices[static_cast<std::size_t>(i)]];
    }
    if (biases > 0) sum.rightCols(biases) += deltas.colwise().sum();
  });
}

void Rgp::apply(TrainingStep& step, std::size_t l, const models::Matrix& sum) {
  CarriedLayer& layer = layers_[l];
  const models::WeightsOf<float>& weights = step.weights(l);
  step.charge(step::Phase::weight_gradient, step::Role::workers, {times(low_rank_, from_carriers_work(rank_))});
  const Eigen::Index kept = sum.size() - weights.bias.size();
  models::Matrix all;
  if (layer.mask) {
    all.setZero(1, layer.mask->first.size() + layer.mask->second.size());
    for (Eigen::Index i = 0; i < kept; ++i) all(layer.mask->indices[static_cast<std::size_t>(i)]) = sum(i);
  }
  const float* row = layer.mask ? all.data() : sum.data();
  using Numbers = Eigen::Map<const models::Matrix>;
  if (layer.carriers) {
    const Eigen::Index r = layer.carriers->left.cols();
    step.gradient(l).weight = from_carriers(*layer.carriers, Numbers(row, weights.out(), r),
                                            Numbers(row + weights.out() * r, weights.in(), r));
  } else {
    step.gradient(l).weight = Numbers(row, weights.out(), weights.in());
  }
  step.gradient(l).bias = sum.rightCols(weights.bias.size()).transpose();
  applied(step, l, step.gradient(l).weight);
}

void Rgp::run(TrainingStep& step) {
  layers_.resize(step.layers());
  rank_ = step::extent::matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  low_rank_ = where_rank_is_low(rank_);
  step.forward();
  ExampleNorms norms(step);
  step.backward([&](std::size_t l) {
    choose_carriers(step, l);
    layers_[l].mask = choose(step, l, layers_[l].carriers, rank_, low_rank_);
    add_norms(step, l, norms);
    step.backpropagate(l);
  });
  const models::Vector factors = noisy_.factors(step, norms);
  const double batch = noisy_.batch(step, norms);
  std::vector<NoisySum::Released> released(step.layers());
  step.backward([&](std::size_t l) { released[l] = release(step, l, factors, batch); });
  step.backward([&](std::size_t l) { apply(step, l, released[l].wait()); });
}

Rgp::Options rgp_options(const spec::ParameterValues& values) {
  return {.rank = Rgp::kRank.of(values), .warm_up = Rgp::kWarmUp.of(values)};
}

SynchronousMethod rgp_method() {
  return as_private({{.name = "rgp",
                      .parameters = {Rgp::kRank, Rgp::kWarmUp},
                      .lossless = {{"rank", "65536"}},
                      // Counts the weights at the end of the warm-up, the carriers, and the rows of A and Δ in r
                      // columns.
                      .state =
                          [](const spec::ParameterValues& values) {
                            using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
                            return estimate::AlgorithmState{
                                in() * out() + matrix_rank(0) * (in() + out() + 2.0 * rows()),
                                static_cast<std::int32_t>(Rgp::kRank.of(values))};
                          }},
                     [](const spec::RunSpec& run) {
                       return std::make_unique<Rgp>(privacy_options(run.parameters), rgp_options(run.parameters));
                     }});
}

}  // namespace dadsim::algorithms
