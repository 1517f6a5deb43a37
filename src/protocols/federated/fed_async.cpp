
#include <fmt/format.h>

#include <cmath>

#include "protocols/federated/federated_async.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

constexpr double kPaperA = -1;  ///< default of `a`: the value of the paper's experiments
constexpr double kUsualB = 4;   ///< default of `b`

/// Decay of an update's share with its staleness.
enum class Decay : std::uint8_t { constant, polynomial, hinge };

class FedAsync final : public FederatedAsync {
 public:
  static constexpr spec::RealParameter kAlpha{
      "alpha", 1e-6, 1, "0.6", "weight of a client's model in the new model, if the update is not stale"};
  static constexpr auto kStaleness = spec::choice<Decay>(
      "staleness", {{"constant", Decay::constant}, {"polynomial", Decay::polynomial}, {"hinge", Decay::hinge}},
      "decrease of alpha with the staleness of an update; staleness is 1 if no other update came first", 1);
  static constexpr spec::RealParameter kA{"a", kPaperA, 1000, "-1",
                                          "rate of the decrease; -1: 0.5 (polynomial) or 10 (hinge)"};
  static constexpr spec::RealParameter kB{"b", 0, 1e9, "4", "hinge: staleness from which the share decreases"};
  static constexpr spec::RealParameter kMu{
      "mu", 0, 1e6, "0", "weight of the proximal term, which pulls a client towards the model it received"};

  explicit FedAsync(const Setting& setting)
      : FederatedAsync(setting, 1, static_cast<std::int64_t>(setting.sites)),
        decay_(setting.value(kStaleness)),
        alpha_(setting.value(kAlpha)),
        a_(setting.value(kA) == kPaperA ? usual_a(decay_) : setting.value(kA)),
        b_(setting.value(kB)) {
    add_proximal_term(setting.value(kMu));
  }

 protected:
  world::Value combine(const world::Value& model, const std::vector<ClientUpdate>& updates) override {
    const ClientUpdate& update = updates.front();
    // Staleness counts the models made since the client's model, and the new one.
    const double damping = factor(1 + static_cast<double>(update.staleness));
    const double alpha = alpha_ * arrivals().take_of_most(update.client, damping) * damping;
    // The client's model x_k is the model that it was sent, minus the difference that it sends back.
    return learning().weighted_sum({model, update.sent, update.difference}, {1 - alpha, alpha, -alpha});
  }
  world::Work combine_work(std::size_t updates) const override {
    return repeated(setting().sizing.per_parameter(step::Role::aggregator, 3, 3), static_cast<double>(updates));
  }

 private:
  static double usual_a(Decay decay) { return decay == Decay::hinge ? 10 : 0.5; }

  double factor(double staleness) const {
    if (decay_ == Decay::polynomial) return std::pow(staleness + 1, -a_);
    if (decay_ == Decay::hinge) return staleness <= b_ ? 1 : 1 / (a_ * (staleness - b_) + 1);
    return 1;
  }

  Decay decay_;
  double alpha_, a_, b_;
};

}  // namespace

/// Asynchronous federated optimization (Xie et al., arXiv 1903.03934, algorithm 1). Model t is made of client k's
/// model:
///     x_t ← (1 − α_s) x_{t−1} + α_s x_k,   α_s = α · f(s)
/// The staleness is s = t − τ if client k was sent model τ; s = 1 if no other model was made meanwhile. f (§5.2) is
///     constant     1
///     polynomial   (s + 1)^−a                                    (a = 0.5 in the paper's experiments)
///     hinge        1 if s ≤ b, otherwise 1 / (a (s − b) + 1)     (a = 10, b = 4 in the paper's experiments)
/// If `mu` (ρ) is above 0, a proximal term ½ ρ ‖w − w_t‖² keeps clients near the model that they were sent.
EventDrivenMethod fed_async_method() {
  return {{.name = "fedasync",
           .family = "asynchronous",
           .parameters = joined<spec::ParameterSpec>(
               {FederatedAsync::common_parameters(),
                {FedAsync::kAlpha, FedAsync::kStaleness, FedAsync::kA, FedAsync::kB, FedAsync::kMu}}),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) -> RunFaults {
             const double a = FedAsync::kA.of(facts.run.parameters);
             const double b = FedAsync::kB.of(facts.run.parameters);
             const Decay decay = FedAsync::kStaleness.of(facts.run.parameters);
             RunFaults faults = Federation::faults_of_parameters(facts.run.parameters);
             if (a < 0 && a != kPaperA) {
               faults.push_back(Fault{fmt::format("a = {} would give old updates more weight", a),
                                      "use 0 or more, or -1 for the paper's value"});
             } else if (a != kPaperA && decay == Decay::constant) {
               faults.push_back(Fault{fmt::format("a = {} has no effect with staleness=\"constant\"", a),
                                      "set staleness=\"polynomial\" or \"hinge\", or remove 'a'"});
             }
             if (b != kUsualB && decay != Decay::hinge) {
               faults.push_back(
                   Fault{fmt::format("b = {} needs staleness=\"hinge\"", b), "set staleness=\"hinge\", or remove 'b'"});
             }
             return faults;
           },
           .objective = methods::Objective::arrivals,
           .models_held = [](const spec::ParameterValues& values, double sites,
                             bool) { return FederatedAsync::models_held(values, sites, 1); }},
          [](const Setting& setting) { return std::make_unique<FedAsync>(setting); }};
}

}  // namespace dadsim::protocols
