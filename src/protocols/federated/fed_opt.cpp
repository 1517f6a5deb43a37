
#include <fmt/format.h>

#include <cmath>

#include "methods/idle_parameters.hpp"
#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

constexpr double kPaperBeta1 = -1;  ///< default of `beta1`: the value of the paper's experiments

struct ServerOptimizer {
  enum class Kind : std::uint8_t { momentum, adam, yogi, adagrad };
  Kind kind = Kind::momentum;
  double rate = 1, beta1 = 0.9, beta2 = 0.99, tau = 1e-3;

  bool adaptive() const { return kind != Kind::momentum; }
  std::string name() const {
    return fmt::format("server {} {} {} {} {}", static_cast<int>(kind), rate, beta1, beta2, tau);
  }

  /// Takes one step. `before`: x, of the same size as `difference`, then m, then v if used, of `parameters` numbers
  /// each. `difference`: mean of x − y. The first `parameters` numbers of x are learned; the others become those of the
  /// mean of y.
  Datum step(const Datum& before, const Datum& difference, std::size_t parameters) const {
    const std::size_t size = difference.numbers.size();
    Datum after = before;
    float* x = after.numbers.data();
    float* m = x + size;
    float* v = m + parameters;
    for (std::size_t k = 0; k < parameters; ++k) {
      const double d = -static_cast<double>(difference.numbers[k]);
      m[k] = static_cast<float>(beta1 * m[k] + (adaptive() ? 1 - beta1 : 1) * d);
      double scale = 1;
      if (adaptive()) {
        v[k] = static_cast<float>(next_square(v[k], d * d));
        scale = std::sqrt(static_cast<double>(v[k])) + tau;
      }
      x[k] = static_cast<float>(x[k] + rate * m[k] / scale);
    }
    for (std::size_t k = parameters; k < size; ++k) x[k] -= difference.numbers[k];
    return after;
  }

 private:
  double next_square(double v, double square) const {
    switch (kind) {
      case Kind::momentum:
        return v;
      case Kind::adam:
        return beta2 * v + (1 - beta2) * square;
      case Kind::yogi:
        return v - (1 - beta2) * square * (v > square ? 1 : v < square ? -1 : 0);
      case Kind::adagrad:
        return v + square;
    }
    throw std::logic_error("unknown optimizer of a server");
  }
};

class FedOpt final : public FederatedRounds {
 public:
  static constexpr auto kServer = spec::choice<ServerOptimizer::Kind>("server",
                                                                      {{"momentum", ServerOptimizer::Kind::momentum},
                                                                       {"adam", ServerOptimizer::Kind::adam},
                                                                       {"yogi", ServerOptimizer::Kind::yogi},
                                                                       {"adagrad", ServerOptimizer::Kind::adagrad}},
                                                                      "optimizer of the server");
  static constexpr spec::RealParameter kServerRate{"server-rate", 1e-6, 100, "1",
                                                   "learning rate of the server; adaptive optimizers use 0.01 to 0.1"};
  static constexpr spec::RealParameter kBeta1{"beta1", kPaperBeta1, 0.9999, "-1",
                                              "decay of the momentum; -1: 0.9, adagrad 0"};
  static constexpr spec::RealParameter kBeta2{"beta2", 0, 0.99999, "0.99", "decay of the mean of squares; adam, yogi"};
  static constexpr spec::RealParameter kTau{
      "tau", 1e-9, 1, "0.001",
      "added to the root of the mean of squares (adam, yogi, adagrad); a larger number adapts less"};

  explicit FedOpt(const Setting& setting) : FederatedRounds(setting) {
    using Kind = ServerOptimizer::Kind;
    optimizer_.kind = setting.value(kServer);
    optimizer_.rate = setting.value(kServerRate);
    optimizer_.beta1 = setting.value(kBeta1);
    if (optimizer_.beta1 == kPaperBeta1) optimizer_.beta1 = optimizer_.kind == Kind::adagrad ? 0 : 0.9;
    optimizer_.beta2 = setting.value(kBeta2);
    optimizer_.tau = setting.value(kTau);
    // The step reads and writes m and x and reads the difference; with v it also reads and writes v, takes a root and
    // divides.
    own_work_ = optimizer_.adaptive() ? setting.sizing.per_parameter(step::Role::aggregator, 12, 7)
                                      : setting.sizing.per_parameter(step::Role::aggregator, 4, 5);
  }

 protected:
  Value aggregate(const Value& model, const std::vector<Update>& updates) override {
    const std::size_t parameters = learning().parameters();
    if (!state_) state_ = first_state(model, parameters);
    state_ = learning().history().make(optimizer_.name(), {state_, mean(updates, 0)},
                                       [optimizer = optimizer_, parameters](world::History::Inputs in) {
                                         return optimizer.step(*in[0], *in[1], parameters);
                                       });
    return learning().history().make("model of a server", {state_, model}, [](world::History::Inputs in) {
      const auto begin = in[0]->numbers.begin();
      return Datum{{begin, begin + static_cast<std::ptrdiff_t>(in[1]->numbers.size())}, {}};
    });
  }
  world::Work aggregation_work(std::size_t updates) const override {
    return FederatedRounds::aggregation_work(updates) + own_work_;
  }

 private:
  Value first_state(const Value& model, std::size_t parameters) {
    return learning().history().make("first state of " + optimizer_.name(), {model},
                                     [optimizer = optimizer_, parameters](world::History::Inputs in) {
                                       Datum state = *in[0];
                                       state.numbers.insert(state.numbers.end(), parameters, 0.0F);
                                       if (!optimizer.adaptive()) return state;
                                       const auto square = static_cast<float>(optimizer.tau * optimizer.tau);
                                       state.numbers.insert(state.numbers.end(), parameters, square);
                                       return state;
                                     });
  }

  ServerOptimizer optimizer_;
  Value state_;
  world::Work own_work_;
};

}  // namespace

/// The server uses −Σ p_k Δ_k as the gradient of a server optimizer (Reddi et al., arXiv 2003.00295, algorithm 2). With
/// D = Σ p_k (y_k − x):
///     momentum   m ← β₁ m + D,            x ← x + η m           (Hsu et al., arXiv 1909.06335)
///     adam       m ← β₁ m + (1 − β₁) D,   v ← β₂ v + (1 − β₂) D²
///     yogi       m as adam,               v ← v − (1 − β₂) D² sign(v − D²)
///     adagrad    m as adam,               v ← v + D²
/// The last three take x ← x + η m / (√v + τ), with v = τ² at first. β₁ = 0.9 (adagrad: 0), β₂ = 0.99 and τ = 0.001 are
/// from the paper's experiments (§5). There is no bias correction, as in the paper. Running statistics are averaged.
EventDrivenMethod fed_opt_method() {
  return {{.name = "fedopt",
           .family = "federated",
           .parameters = joined<spec::ParameterSpec>(
               {FederatedRounds::common_parameters(),
                {FedOpt::kServer, FedOpt::kServerRate, FedOpt::kBeta1, FedOpt::kBeta2, FedOpt::kTau}}),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) -> RunFaults {
             RunFaults faults =
                 joined({FederatedRounds::faults_of_parameters(facts.run.parameters),
                         methods::faults_of_idle_parameters(
                             facts.run.parameters, {{FedOpt::kBeta2, FedOpt::kServer, {"adam", "yogi"}},
                                                    {FedOpt::kTau, FedOpt::kServer, {"adam", "yogi", "adagrad"}}})});
             const double beta1 = FedOpt::kBeta1.of(facts.run.parameters);
             if (beta1 < 0 && beta1 != kPaperBeta1)
               faults.push_back(
                   Fault{fmt::format("beta1 = {} is negative", beta1), "use 0 or more, or -1 for the paper's value"});
             return faults;
           },
           .objective = methods::Objective::samples,
           .models_held = FederatedRounds::models_held()},
          [](const Setting& setting) { return std::make_unique<FedOpt>(setting); }};
}

}  // namespace dadsim::protocols
