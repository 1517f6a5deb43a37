
#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

class Scaffold final : public FederatedRounds {
 public:
  static constexpr spec::RealParameter kServerRate{"server-rate", 1e-6, 100, "1",
                                                   "step of the server towards the mean of the clients' models"};

  explicit Scaffold(const Setting& setting)
      : FederatedRounds(setting),
        rate_(setting.value(kServerRate)),
        controls_(setting.sites),
        // Adding c − c_i to the gradient reads three numbers and writes one.
        per_step_(setting.sizing.per_parameter(step::Role::workers, 2, 4)),
        // Computing c_i⁺ reads c_i, c, x and y.
        per_order_(setting.sizing.per_parameter(step::Role::workers, 4, 5)) {}

 protected:
  std::vector<Value> with_model() override {
    // Before the first round c and every c_i are zero.
    if (!control_) control_ = zero();
    return {control_};
  }
  double extra_down() const override { return 1; }
  double extra_up() const override { return 1; }
  world::Work work_per_step() const override { return per_step_; }
  world::Work work_per_order() const override { return FederatedRounds::work_per_order() + per_order_; }

  Value train(const ClientOrder& order) override {
    const Value& c = order.more.front();
    const Value& own = controls_[order.client];
    return learning().train(order.model,
                            {.site = order.client,
                             .first = order.first,
                             .steps = order.steps,
                             .schedule_step = order.schedule_step,
                             .data_version = order.data_version},
                            own ? learning().difference(c, own) : c);
  }

  /// Returns c_i⁺ − c_i.
  std::vector<Value> beside(const ClientOrder& order, const Value& trained) override {
    double rates = 0;
    for (std::int64_t k = 0; k < order.steps; ++k) rates += learning().rate(order.schedule_step + k);
    return {learning().weighted_sum({order.more.front(), parameters_of(order.model), parameters_of(trained)},
                                    {-1, 1 / rates, -1 / rates})};
  }

  Value aggregate(const Value& model, const std::vector<Update>& updates) override {
    for (const Update& update : updates) {
      Value& own = controls_[update.client];
      own = own ? learning().weighted_sum({own, update.values[1]}, {1, 1}) : update.values[1];
    }
    control_ = learning().weighted_sum({control_, mean(updates, 1, all_weights())}, {1, 1});
    return learning().weighted_sum({model, mean(updates, 0)}, {1, -rate_});
  }
  world::Work aggregation_work(std::size_t updates) const override {
    return FederatedRounds::aggregation_work(2 * updates);
  }

 private:
  Value zero() {
    const std::size_t numbers = learning().parameters();
    return learning().history().make("zero", {}, [numbers](world::History::Inputs) {
      return world::Datum{std::vector<float>(numbers, 0.0F), {}};
    });
  }
  /// Returns the parameters alone, because running statistics have no gradients.
  Value parameters_of(const Value& weights) { return learning().first_numbers(weights, learning().parameters()); }

  double rate_;
  Value control_;                ///< c, the server's control variate
  std::vector<Value> controls_;  ///< c_i, per client; no value: zero
  world::Work per_step_, per_order_;
};

}  // namespace

/// Stochastic controlled averaging (Karimireddy et al., arXiv 1910.06378, algorithm 1 with option II). In a round with
/// the model x and the server's control variate c, client i makes K steps
///     y ← y − η_l (g_i(y) − c_i + c)                from y = x
///     c_i⁺ = c_i − c + (x − y) / (K η_l)
/// and sends x − y and c_i⁺ − c_i; the server takes
///     x ← x − η_g Σ p_i (x − y_i),   c ← c + Σ (n_i / n) (c_i⁺ − c_i).
/// p_i is client i's share of the round's samples, n_i / n its share of all samples. For clients of equal size these
/// give the paper's means, 1/|S| and |S|/N · 1/|S|. For other clients they make c the gradient of the pooled loss, as
/// in federated averaging. If the rate changes within a round, K η_l is the sum of the rates. A client uses its new c_i
/// once the server has used its answer, so that c stays the mean of the c_i even after failures.
///
/// The scenario's optimizer must be plain SGD: only then is (x − y) / (K η_l) the mean of the client's gradients.
EventDrivenMethod scaffold_method() {
  return {{.name = "scaffold",
           .family = "federated",
           .parameters = joined<spec::ParameterSpec>({FederatedRounds::common_parameters(), {Scaffold::kServerRate}}),
           .sharing = Sharing::event_driven,
           .optimizer = Needs::plain_sgd,
           .check = [](const RunFacts& facts) { return FederatedRounds::faults_of_parameters(facts.run.parameters); },
           .objective = methods::Objective::samples,
           .state =
               [](const spec::ParameterValues&) {
                 // State: c, and each client's c_i.
                 return estimate::AlgorithmState{2.0 * step::extent::parameters(), 0, true};
               },
           // Memory of a client: also the correction that it adds to gradients.
           .models_held = FederatedRounds::models_held(3)},
          [](const Setting& setting) { return std::make_unique<Scaffold>(setting); }};
}

}  // namespace dadsim::protocols
