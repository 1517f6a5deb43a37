
#include <cmath>

#include "protocols/federated/federated_async.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

class FedBuff final : public FederatedAsync {
 public:
  static constexpr spec::IntegerParameter kBuffer{"buffer", 1, 1e6, "10", "updates per new model (K)"};
  static constexpr spec::RealParameter kServerRate{"server-rate", 1e-6, 100, "1",
                                                   "step of the server towards the mean of the clients' models"};

  explicit FedBuff(const Setting& setting)
      : FederatedAsync(setting, static_cast<std::size_t>(setting.value(kBuffer)), 1),
        rate_(setting.value(kServerRate)) {}

 protected:
  world::Value combine(const world::Value& model, const std::vector<ClientUpdate>& updates) override {
    std::vector<world::Value> values = {model};
    std::vector<double> weights = {1};
    for (const ClientUpdate& update : updates) {
      values.push_back(update.difference);
      const double root = std::sqrt(1.0 + static_cast<double>(update.staleness));
      const double worth = arrivals().take(update.client, 1 / root);
      weights.push_back(-rate_ * worth / static_cast<double>(updates.size()) / root);
    }
    return learning().weighted_sum(values, weights);
  }
  world::Work combine_work(std::size_t updates) const override {
    return setting().sizing.sum(step::Role::aggregator, updates);
  }

 private:
  double rate_;
};

}  // namespace

/// Buffered asynchronous aggregation (Nguyen et al., arXiv 2106.06639): after every K updates, the server takes
///     x ← x − η_g / K Σ Δ_k / √(1 + s_k)
/// with s_k the number of new models since client k was sent its model. All clients have equal weight, as in the paper.
EventDrivenMethod fed_buff_method() {
  return {{.name = "fedbuff",
           .family = "asynchronous",
           .parameters = joined<spec::ParameterSpec>(
               {FederatedAsync::common_parameters(), {FedBuff::kBuffer, FedBuff::kServerRate}}),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) { return Federation::faults_of_parameters(facts.run.parameters); },
           .objective = methods::Objective::arrivals,
           .models_held =
               [](const spec::ParameterValues& values, double sites, bool) {
                 return FederatedAsync::models_held(values, sites, static_cast<double>(FedBuff::kBuffer.of(values)));
               }},
          [](const Setting& setting) { return std::make_unique<FedBuff>(setting); }};
}

}  // namespace dadsim::protocols
