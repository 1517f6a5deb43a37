#include "algorithms/sign/sign_sgd.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

constexpr double kCodeInMemory = 4.0;

// Codes of votes. One bit: 1 for below zero. Two bits: the second is 1 for above zero.
constexpr std::uint32_t kDown = 1;
constexpr std::uint32_t kUp = 2;

/// Work of m ← β m + (1 − β) g if there is momentum, a comparison and a random bit.
step::Work vote_work(bool momentum) {
  return {.flops = (momentum ? 5.0 : 2.0) * step::extent::parameters(),
          .bytes_moved = (cost::kFloatBytes * (momentum ? 3.0 : 1.0) + kCodeInMemory) * step::extent::parameters(),
          .launches = 1.0};
}

/// Work of a sum over the voters, a comparison and a random bit.
step::Work count_work(const step::Expression& voters) {
  return {.flops = (voters + 2.0) * step::extent::parameters(),
          .bytes_moved = kCodeInMemory * (voters + 1.0) * step::extent::parameters(),
          .launches = 1.0};
}

/// Work of turning codes into the applied signs.
step::Work apply_work() {
  return {.flops = step::extent::parameters(),
          .bytes_moved = (kCodeInMemory + cost::kFloatBytes) * step::extent::parameters(),
          .launches = 1.0};
}

}  // namespace

std::vector<std::uint32_t> SignVotes::coins(const TrainingStep& step, std::size_t l, std::size_t count,
                                            bool ties) const {
  std::vector<std::uint32_t> all(count, 0);
  if (options_.zeros != Zeros::random) return all;
  RandomStream random(step.seed(), Purpose::coordinates, static_cast<std::uint32_t>(2 * l + (ties ? 1 : 0)),
                      static_cast<std::uint32_t>(step.number()));
  for (std::uint32_t& coin : all) coin = random() & kDown;
  return all;
}

std::uint32_t SignVotes::code_of(float x, std::uint32_t coin) const {
  if (x < 0) return kDown;
  if (x > 0) return options_.zeros == Zeros::abstain ? kUp : 0;
  return coin;
}

std::int32_t SignVotes::vote_of(std::uint32_t code) const {
  if (code == kDown) return -1;
  return options_.zeros == Zeros::abstain && code == 0 ? 0 : 1;
}

std::vector<std::uint32_t> SignVotes::votes(const TrainingStep& step, std::size_t l, std::size_t site,
                                            models::LayerGradient own) {
  if (options_.momentum > 0) {
    models::LayerGradient& m = momentum_[l][step.among_all(site)];
    if (m.weight.size() == 0) {
      m.weight.setZero(own.weight.rows(), own.weight.cols());
      m.bias.setZero(own.bias.size());
    }
    m.weight = options_.momentum * m.weight + (1 - options_.momentum) * own.weight;
    m.bias = options_.momentum * m.bias + (1 - options_.momentum) * own.bias;
    own = m;
  }
  const auto count = static_cast<std::size_t>(own.weight.size() + own.bias.size());
  const std::vector<std::uint32_t> drawn = coins(step, l, count, false);
  std::vector<std::uint32_t> codes;
  codes.reserve(count);
  for (const float x : own.weight.reshaped<Eigen::RowMajor>()) codes.push_back(code_of(x, drawn[codes.size()]));
  for (const float x : own.bias) codes.push_back(code_of(x, drawn[codes.size()]));
  return codes;
}

std::vector<std::vector<std::uint32_t>> SignVotes::cast(TrainingStep& step, std::size_t l) {
  momentum_.resize(step.matrices(), std::vector<models::LayerGradient>(step.all_sites()));
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  step.charge(step::Phase::encode, step::Role::workers, {vote_work(options_.momentum > 0)});
  Eigen::Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  const models::WeightsOf<float>& weights = step.weights(l);
  std::vector<std::vector<std::uint32_t>> ballots(step.sites());
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (step.samples(site) == 0) continue;
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    add_to(site, own);
    // Scales by the inverse of the site's share of the rows. Gradients to be summed have that share as factor; the
    // site's own momentum must not.
    const float whole = static_cast<float>(all) / static_cast<float>(step.samples(site));
    own.weight *= whole;
    own.bias *= whole;
    ballots[site] = votes(step, l, site, std::move(own));
  }
  return ballots;
}

Combination SignVotes::count(TrainingStep& step, std::size_t l) const {
  const step::Expression voters = step::extent::over_workers(step::extent::min({1.0, step::extent::rows()}));
  const models::WeightsOf<float>& weights = step.weights(l);
  const auto count = static_cast<std::size_t>(weights.weight.size() + weights.bias.size());
  return [this, &step, l, voters, count](Rows rows, step::Role who) {
    step.charge(step::Phase::add, who, {count_work(voters)});
    std::vector<std::int32_t> sums(count, 0);
    for (std::size_t i = 0; i < rows.codes[0].size(); ++i) sums[i % count] += vote_of(rows.codes[0][i]);
    const std::vector<std::uint32_t> drawn = coins(step, l, count, true);
    Rows result{1.0, {}, {}, {{}}};
    for (const std::int32_t sum : sums) {
      result.codes[0].push_back(code_of(static_cast<float>(sum), drawn[result.codes[0].size()]));
    }
    return result;
  };
}

void SignVotes::apply(TrainingStep& step, std::size_t l, const Rows& result) const {
  step.charge(step::Phase::decode, step::Role::workers, {apply_work()});
  const models::WeightsOf<float>& weights = step.weights(l);
  models::LayerGradient& gradient = step.gradient(l);
  gradient.weight.resize(weights.out(), weights.in());
  gradient.bias.resize(weights.bias.size());
  // Propagates a NaN loss, which votes would hide because they are always finite.
  const float one = std::isfinite(step.loss()) ? 1.0F : std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::uint32_t>& codes = result.codes[0];
  const auto step_of = [&](std::size_t i) { return one * static_cast<float>(vote_of(codes[i])); };
  std::size_t next = 0;
  for (float& x : gradient.weight.reshaped<Eigen::RowMajor>()) x = step_of(next++);
  for (float& x : gradient.bias) x = step_of(next++);
}

void SignVotes::apply_to_the_rest(TrainingStep& step) {
  step.transform_non_matrix_parameters([](std::size_t, models::Vector& sum) { sum = sum.cwiseSign(); }, apply_work());
}

void SignSgd::run(TrainingStep& step) {
  const step::Expression votes_of_site = step::extent::min({1.0, step::extent::rows()});
  std::vector<Pending<Rows>> elections(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<std::vector<std::uint32_t>> ballots = votes_.cast(step, l);  // sgn(m_s)
    const Contribution::Part part{.width = step::extent::parameters(),
                                  .of = nullptr,
                                  .codes = [&](std::size_t s) { return std::span<const std::uint32_t>(ballots[s]); },
                                  .bits = votes_.bits()};
    elections[l] = step.exchange().combine({votes_of_site, {part}}, votes_.count(step, l));  // V = sgn Σ_s sgn(m_s)
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) { votes_.apply(step, l, elections[l].wait()); });
  SignVotes::apply_to_the_rest(step);
}

SynchronousMethod sign_sgd_method() {
  static constexpr spec::FloatParameter kMomentum{"momentum", 0, 0.9999, "0",
                                                  "momentum β of each site; 0 is signSGD, 0.9 is Signum"};
  static constexpr auto kZeros = spec::choice<SignSgd::Zeros>(
      "zeros",
      {{"random", SignSgd::Zeros::random}, {"plus", SignSgd::Zeros::plus}, {"abstain", SignSgd::Zeros::abstain}},
      "random: one bit, zeros and ties are +1 or -1 at random; plus: one bit, zeros and ties are +1; abstain: two "
      "bits, zeros do not vote and ties change nothing");
  return {{.name = "sign-sgd",
           .family = "quantisation",
           .parameters = {kMomentum, kZeros},
           .compresses = false,
           .optimizer = Needs::plain_sgd,
           .applies_signs = true,
           .state =
               [](const spec::ParameterValues& values) {
                 const bool momentum = kMomentum.of(values) > 0;
                 return estimate::AlgorithmState{
                     momentum ? step::extent::in_with_bias() * step::extent::out() : step::Expression(), 0, true};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<SignSgd>(
                SignSgd::Options{.momentum = kMomentum.of(run.parameters), .zeros = kZeros.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
