#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"
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

/// Votes by sign: each site's votes on the numbers of a matrix and its biases, their count, and the applied result.
/// Each function computes its result and charges its work.
class SignVotes {
 public:
  /// Treatment of zeros and ties.
  enum class Zeros {
    random,  ///< one bit per vote; zeros and ties are drawn at random
    plus,    ///< one bit per vote; zeros and ties count as +1
    abstain  ///< two bits per vote; zeros abstain, ties move nothing
  };
  struct Options {
    float momentum = 0;  ///< β
    Zeros zeros = Zeros::random;
  };

  explicit SignVotes(Options options) : options_(options) {}

  /// Returns the codes per site as sent, one per number; none for a site without rows.
  std::vector<std::vector<std::uint32_t>> cast(TrainingStep& step, std::size_t l) {
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
  /// Returns the bits per code.
  int bits() const { return options_.zeros == Zeros::abstain ? 2 : 1; }
  /// Returns a combination that computes the majority of all sites' votes on matrix l.
  Combination count(TrainingStep& step, std::size_t l) const {
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
  /// Sets the gradient of matrix l to the result of the vote.
  void apply(TrainingStep& step, std::size_t l, const Rows& result) const {
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
  /// Sums the parameters outside the matrices, and applies the sign of the sum.
  static void apply_to_the_rest(TrainingStep& step) {
    step.transform_non_matrix_parameters([](std::size_t, models::Vector& sum) { sum = sum.cwiseSign(); }, apply_work());
  }

 private:
  /// Returns the votes of site `site` on matrix l and its biases, row by row: codes as sent.
  std::vector<std::uint32_t> votes(const TrainingStep& step, std::size_t l, std::size_t site,
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
  /// Returns the votes for zeros per number of matrix l (`ties`: for ties), the same at every site.
  std::vector<std::uint32_t> coins(const TrainingStep& step, std::size_t l, std::size_t count, bool ties) const {
    std::vector<std::uint32_t> all(count, 0);
    if (options_.zeros != Zeros::random) return all;
    RandomStream random(step.seed(), Purpose::coordinates, static_cast<std::uint32_t>(2 * l + (ties ? 1 : 0)),
                        static_cast<std::uint32_t>(step.number()));
    for (std::uint32_t& coin : all) coin = random() & kDown;
    return all;
  }
  std::uint32_t code_of(float x, std::uint32_t coin) const {
    if (x < 0) return kDown;
    if (x > 0) return options_.zeros == Zeros::abstain ? kUp : 0;
    return coin;
  }
  std::int32_t vote_of(std::uint32_t code) const {
    if (code == kDown) return -1;
    return options_.zeros == Zeros::abstain && code == 0 ? 0 : 1;
  }

  Options options_;
  std::vector<std::vector<models::LayerGradient>> momentum_;  ///< per matrix and site
};

/// signSGD with majority vote (Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018, arXiv 1802.04434; Bernstein,
/// Zhao, Azizzadenesheli, Anandkumar, ICLR 2019, arXiv 1810.05291). For every matrix with its biases:
///   m_s ← β m_s + (1 − β) g_s          g_s: the gradient of site s over its own rows (Signum; β = 0: m_s = g_s)
///   V = sgn Σ_s sgn m_s                every site with rows in this step has one vote per entry
///   W ← W − η (V + λ W)                plain SGD with V in the place of the gradient
/// Votes are one bit up and one bit down per entry. The papers do not define zeros, of which rectifiers and empty
/// inputs make many, nor ties: here both are decided at random. Always +1, as in GRACE's implementation (Xu et al.,
/// ICDCS 2021), moves parameters without gradient forever. With two bits a zero abstains and a tie moves nothing.
/// Parameters outside the matrices (norms, positions) are summed over sites in fp32, since the pass does not separate
/// sites there, and their sign is applied; published implementations vote on them as well.
class SignSgd final : public Algorithm {
 public:
  explicit SignSgd(SignVotes::Options options) : votes_(options) {}
  void run(TrainingStep& step) override {
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

 private:
  SignVotes votes_;
};

}  // namespace

SynchronousMethod sign_sgd_method() {
  static constexpr spec::FloatParameter kMomentum{"momentum", 0, 0.9999, "0",
                                                  "momentum β of each site; 0 is signSGD, 0.9 is Signum"};
  static constexpr auto kZeros = spec::choice<SignVotes::Zeros>(
      "zeros",
      {{"random", SignVotes::Zeros::random}, {"plus", SignVotes::Zeros::plus}, {"abstain", SignVotes::Zeros::abstain}},
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
                SignVotes::Options{.momentum = kMomentum.of(run.parameters), .zeros = kZeros.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
