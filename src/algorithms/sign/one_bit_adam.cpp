#include "algorithms/sign/one_bit_adam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/methods.hpp"
#include "methods/idle_parameters.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::ArrayXf;
using Eigen::Index;

constexpr double kNumber = 4.0;  // bytes in memory of a float or a code
constexpr int kScaleBits = 32;

/// Returns the size of a block: a multiple of 8 (whole bytes of signs), the same for all blocks.
Index block_size(Index numbers, std::size_t blocks) {
  const auto bits = static_cast<Index>(8 * blocks);
  return 8 * ((numbers + bits - 1) / bits);
}
step::Expression block_size(std::size_t blocks) {
  return 8.0 * step::extent::ceil(1.0 / static_cast<double>(8 * blocks) * step::extent::parameters());
}

/// Work of a sum of three terms, a norm, a sign and the error.
step::Work encode_signs_work() {
  return {.flops = 9.0 * step::extent::parameters(),
          .bytes_moved = 8.0 * kNumber * step::extent::parameters(),
          .launches = 3.0};
}

/// Work of scales times signs of all sites plus the error, a norm, a sign and the new error.
step::Work combine_signs_work(std::size_t blocks, double sites) {
  return {.flops = (2.0 * sites + 6.0) * block_size(blocks),
          .bytes_moved = (sites + 5.0) * kNumber * block_size(blocks),
          .launches = 3.0};
}

/// Work of the new m, and of the step from m.
step::Work step_work(double flops) {
  return {.flops = flops * step::extent::parameters(),
          .bytes_moved = 4.0 * kNumber * step::extent::parameters(),
          .launches = 1.0};
}

/// Returns ‖y‖₂ / √d for `d` unmasked numbers.
float scale_of(const ArrayXf& y, Index d) {
  return d == 0 ? 0.0F : static_cast<float>(std::sqrt(y.cast<double>().square().sum() / static_cast<double>(d)));
}

std::uint32_t sign_code(float x) { return x < 0 ? 1U : 0U; }
float of_sign_code(std::uint32_t code) { return code == 0 ? 1.0F : -1.0F; }
float of_scale_code(std::uint32_t code) { return std::bit_cast<float>(code); }

/// Returns the parts of a block's message; without lists, only their sizes.
Contribution block_of(std::size_t blocks, std::function<std::span<const std::uint32_t>(std::size_t site)> signs,
                      std::function<std::span<const std::uint32_t>(std::size_t site)> scales) {
  return {1.0,
          {{.width = block_size(blocks), .of = nullptr, .codes = std::move(signs), .bits = 1},
           {.width = 1.0, .of = nullptr, .codes = std::move(scales), .bits = kScaleBits}}};
}

}  // namespace

bool OneBitAdam::is_warming_up(const TrainingStep& step) const {
  const UpdateRule& rule = step.update_rule();
  if (rule.state == nullptr) return true;
  if (options_.warm_up_steps > 0) return step.number() < options_.warm_up_steps;
  if (rule.steps == 0) return true;
  return static_cast<double>(step.number()) < std::max(1.0, options_.warm_up_share * static_cast<double>(rule.steps));
}

void OneBitAdam::freeze(const TrainingStep& step) {
  const spec::OptimizerSpec& adam = step.update_rule().optimizer;
  const std::vector<float> state = step.update_rule().state->state();
  const models::ParametersOf<float>& parameters = step.network().parameters();
  const auto numbers = static_cast<Index>((state.size() - 1) / 2);
  const double corrected = 1 - std::pow(adam.beta2, static_cast<double>(state.front()));
  Index at = 1;
  const auto next = [&](Index size) {
    Tensor tensor;
    tensor.momentum = Eigen::Map<const ArrayXf>(state.data() + at, size);
    const ArrayXf variance =
        Eigen::Map<const ArrayXf>(state.data() + at + numbers, size) / static_cast<float>(corrected);
    tensor.per_deviation = (variance > 0).select(1 / (variance.sqrt() + static_cast<float>(adam.epsilon)), 0);
    at += size;
    return tensor;
  };
  std::vector<Tensor> of_network;
  for (const models::WeightsOf<float>& matrix : parameters.matrices) {
    of_network.push_back(next(matrix.weight.size() + matrix.bias.size()));
  }
  for (const models::Vector& vector : parameters.vectors) vectors_.push_back(next(vector.size()));
  for (std::size_t l = 0; l < step.matrices(); ++l) {
    tensors_.push_back(std::move(of_network[step.in_network(l)]));
    tensors_.back().site_errors.assign(step.all_sites(), ArrayXf::Zero(tensors_.back().momentum.size()));
  }
  frozen_ = true;
}

ArrayXf OneBitAdam::errors(std::size_t l) const {
  const Tensor& tensor = tensors_[l];
  ArrayXf sum = ArrayXf::Zero(tensor.momentum.size());
  for (const ArrayXf& error : tensor.site_errors) sum += error;
  Index at = 0;
  for (const ArrayXf& error : tensor.block_errors) {
    const Index size = std::min(error.size(), sum.size() - at);
    if (size > 0) sum.segment(at, size) += error.head(size);
    at += error.size();
  }
  return sum;
}

std::vector<OneBitAdam::Ballot> OneBitAdam::encode(TrainingStep& step, std::size_t l, std::size_t site,
                                                   models::LayerGradient own) {
  const spec::OptimizerSpec& adam = step.update_rule().optimizer;
  Tensor& tensor = tensors_[l];
  ArrayXf& error = tensor.site_errors[step.among_all(site)];
  const Index matrix = own.weight.size();
  const Index size = matrix + own.bias.size();
  Index rows = 0;
  for (std::size_t s = 0; s < step.sites(); ++s) rows += step.samples(s);
  const float share = static_cast<float>(step.samples(site)) / static_cast<float>(rows);
  if (adam.kind == spec::OptimizerSpec::Kind::adam && adam.weight_decay != 0) {
    const float decay = share * static_cast<float>(adam.weight_decay);
    own.weight += decay * step.weights(l).weight;
    own.bias += decay * step.weights(l).bias;
  }
  ArrayXf y(size);
  y.head(matrix) = own.weight.reshaped<Eigen::RowMajor>().array();
  y.tail(size - matrix) = own.bias.array();
  y = share * static_cast<float>(adam.beta1) * tensor.momentum + static_cast<float>(1 - adam.beta1) * y + error;
  const auto counted = tensor.per_deviation > 0;
  y = counted.select(y, 0);
  const float scale = scale_of(y, counted.count());

  const std::size_t blocks = step.exchange().blocks();
  const Index width = block_size(size, blocks);
  std::vector<Ballot> ballots(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    ballots[b].scale = {std::bit_cast<std::uint32_t>(scale)};
    ballots[b].signs.assign(static_cast<std::size_t>(width), 0);
    const Index first = std::min(size, static_cast<Index>(b) * width);
    for (Index i = first; i < std::min(size, first + width); ++i) {
      ballots[b].signs[static_cast<std::size_t>(i - first)] = sign_code(y(i));
    }
  }
  const ArrayXf sent = (y < 0).select(ArrayXf::Constant(size, -scale), scale);
  error = counted.select(y - sent, 0);
  return ballots;
}

OneBitAdam::Ballot OneBitAdam::combine(Tensor& tensor, std::size_t block, const Rows& of_sites) {
  const std::vector<std::uint32_t>& signs = of_sites.codes[0];
  const std::vector<std::uint32_t>& scales = of_sites.codes[1];
  const auto width = static_cast<Index>(signs.size() / scales.size());
  if (tensor.block_errors.size() <= block) tensor.block_errors.resize(block + 1, ArrayXf::Zero(width));
  ArrayXf z = tensor.block_errors[block];
  std::size_t next = 0;
  for (const std::uint32_t code : scales) {
    for (float& x : z) x += of_scale_code(code) * of_sign_code(signs[next++]);
  }
  // Zeroes masked entries, and padding after the end.
  const Index size = tensor.per_deviation.size();
  const Index first = std::min(size, static_cast<Index>(block) * width);
  const Index length = std::min(width, size - first);
  Index counted = 0;
  for (Index i = 0; i < width; ++i) {
    const bool counts = i < length && tensor.per_deviation(first + i) > 0;
    counted += counts ? 1 : 0;
    if (!counts) z(i) = 0;
  }
  const float scale = scale_of(z, counted);
  Ballot made{{}, {std::bit_cast<std::uint32_t>(scale)}};
  for (Index i = 0; i < width; ++i) {
    made.signs.push_back(sign_code(z(i)));
    const bool counts = i < length && tensor.per_deviation(first + i) > 0;
    if (counts) z(i) -= scale * of_sign_code(made.signs.back());
  }
  tensor.block_errors[block] = std::move(z);
  return made;
}

std::vector<std::vector<OneBitAdam::Ballot>> OneBitAdam::encode_sites(TrainingStep& step, std::size_t l) {
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  step.charge(step::Phase::encode, step::Role::workers, {encode_signs_work()});
  const models::WeightsOf<float>& weights = step.weights(l);
  std::vector<std::vector<Ballot>> ballots(step.sites());
  for (std::size_t site = 0; site < step.sites(); ++site) {
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    add_to(site, own);
    ballots[site] = encode(step, l, site, std::move(own));
  }
  return ballots;
}

std::vector<Rows> OneBitAdam::combine_blocks(TrainingStep& step, std::size_t l, const std::vector<Rows>& of_sites) {
  Exchange& exchange = step.exchange();
  step.charge(step::Phase::add, exchange.combiner(),
              {combine_signs_work(exchange.blocks(), static_cast<double>(step.sites()))});
  std::vector<Rows> made;
  for (std::size_t b = 0; b < exchange.blocks(); ++b) {
    Ballot ballot = combine(tensors_[l], b, of_sites[b]);
    made.push_back({1.0, {}, {}, {std::move(ballot.signs), std::move(ballot.scale)}});
  }
  return made;
}

void OneBitAdam::apply(TrainingStep& step, std::size_t l, const std::vector<Rows>& made) {
  step.charge(step::Phase::decode, step::Role::workers, {step_work(2.0)});
  Tensor& tensor = tensors_[l];
  const auto width = static_cast<Index>(made.front().codes[0].size());
  for (Index i = 0; i < tensor.momentum.size(); ++i) {
    const Rows& block = made[static_cast<std::size_t>(i / width)];
    const bool counts = tensor.per_deviation(i) > 0;
    const float sign = of_sign_code(block.codes[0][static_cast<std::size_t>(i % width)]);
    tensor.momentum(i) = counts ? of_scale_code(block.codes[1][0]) * sign : 0.0F;
  }
  const ArrayXf whole = tensor.momentum * tensor.per_deviation;
  models::LayerGradient& gradient = step.gradient(l);
  const models::WeightsOf<float>& weights = step.weights(l);
  gradient.weight.resize(weights.out(), weights.in());
  gradient.weight.reshaped<Eigen::RowMajor>() = whole.head(weights.weight.size()).matrix();
  gradient.bias = whole.tail(weights.bias.size()).matrix();
}

void OneBitAdam::run(TrainingStep& step) {
  if (!frozen_ && is_warming_up(step)) {
    GradientSharing().run(step);
    return;
  }
  if (!frozen_) freeze(step);
  step.apply_as_it_is();
  Exchange& exchange = step.exchange();
  const std::size_t blocks = exchange.blocks();
  const Contribution like = block_of(
      blocks, [](std::size_t) { return std::span<const std::uint32_t>(); },
      [](std::size_t) { return std::span<const std::uint32_t>(); });
  std::vector<Pending<std::vector<Rows>>> scattered(step.matrices()), gathered(step.matrices());

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<std::vector<Ballot>> ballots = encode_sites(step, l);
    std::vector<Contribution> own;
    for (std::size_t b = 0; b < blocks; ++b) {
      own.push_back(block_of(
          blocks, [&ballots, b](std::size_t s) { return std::span<const std::uint32_t>(ballots[s][b].signs); },
          [&ballots, b](std::size_t s) { return std::span<const std::uint32_t>(ballots[s][b].scale); }));
    }
    scattered[l] = exchange.scatter(own);
    step.backpropagate(l);
  });

  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<Rows>& of_sites = scattered[l].wait();
    gathered[l] = exchange.all_gather(combine_blocks(step, l, of_sites), like);
  });

  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<Rows>& made = gathered[l].wait();
    apply(step, l, made);
  });

  const spec::OptimizerSpec adam = step.update_rule().optimizer;
  const models::Network& network = step.network();
  step.transform_non_matrix_parameters(
      [this, adam, &network](std::size_t v, models::Vector& sum) {
        Tensor& tensor = vectors_[v];
        if (adam.kind == spec::OptimizerSpec::Kind::adam) {
          sum += static_cast<float>(adam.weight_decay) * network.parameters().vectors[v];
        }
        tensor.momentum =
            static_cast<float>(adam.beta1) * tensor.momentum + static_cast<float>(1 - adam.beta1) * sum.array();
        sum = (tensor.momentum * tensor.per_deviation).matrix();
      },
      step_work(4.0));
}

namespace {

constexpr spec::RealParameter kWarmUpShare{"warm-up-share", 0, 1, "0.2",
                                           "warm-up T as a share of the run's maximum steps (the paper: 15 to 25 %)"};
constexpr spec::IntegerParameter kWarmUpSteps{"warm-up-steps", 0, 1e9, "0",
                                              "warm-up T in steps; 0: warm-up-share sets T"};

/// Checks a run of 1-bit Adam. If sites may be absent, the run needs an aggregator, which is always present: each peer
/// alone keeps the compression errors of the block that it averages.
RunFaults one_bit_adam_faults(const RunFacts& facts) {
  RunFaults faults = methods::faults_of_idle_parameters(
      facts.run.parameters, {{.parameter = kWarmUpShare, .other = kWarmUpSteps, .without = true}});
  if (!facts.run.absence.goes_without() || facts.run.exchange == spec::ExchangeMode::aggregator) return faults;
  faults.push_back(Fault{fmt::format("absent=\"{}\" needs an aggregator: in '{}' each peer averages a block, and "
                                     "keeps its compression errors",
                                     to_string(facts.run.absence.does), facts.run.algorithm),
                         "set exchange=\"aggregator\", or absent=\"wait\" or \"restart\""});
  return faults;
}

}  // namespace

SynchronousMethod one_bit_adam_method() {
  return {{.name = "one-bit-adam",
           .family = "quantisation",
           .parameters = {kWarmUpShare, kWarmUpSteps},
           .compresses = false,
           .optimizer = Needs::adam,
           .check = one_bit_adam_faults,
           .lossless = {{"warm-up-share", "1"}},
           // Counts the errors e of the site's matrix and of its block. m and v are the optimizer's state (Adam).
           .state =
               [](const spec::ParameterValues&) {
                 const step::Expression numbers = step::extent::in_with_bias() * step::extent::out();
                 return estimate::AlgorithmState{
                     numbers + step::extent::quotient(numbers, step::extent::over_workers(1.0)), 0, true};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<OneBitAdam>(OneBitAdam::Options{.warm_up_share = kWarmUpShare.of(run.parameters),
                                                                    .warm_up_steps = kWarmUpSteps.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
