#include "protocols/fed_async.hpp"

#include <fmt/format.h>

#include <cmath>

#include "protocols/federated_async.hpp"

namespace dadsim::protocols {
namespace {

constexpr double kPaperA = -1;  ///< in place of `a`: that of the paper's experiments

class FedAsync final : public FederatedAsync {
 public:
  explicit FedAsync(const Setting& setting)
      : FederatedAsync(setting, 1, static_cast<std::int64_t>(setting.sites)),
        function_(setting.choice("staleness")),
        alpha_(setting.real("alpha")),
        a_(setting.real("a") == kPaperA ? usual_a(function_) : setting.real("a")),
        b_(setting.real("b")) {
    hold_to_model(setting.real("mu"));
  }

 protected:
  world::Value combine(const world::Value& model, const std::vector<Update>& updates) override {
    const Update& update = updates.front();
    // The new model is one later than those made meanwhile.
    const double alpha = alpha_ * factor(1 + static_cast<double>(update.staleness));
    // x_k is what the client was sent less how far it has come.
    return learning().weighted_sum({model, update.sent, update.difference}, {1 - alpha, alpha, -alpha});
  }
  world::Work combine_work(std::size_t updates) const override {
    return repeated(setting().sizing.per_parameter(step::Role::aggregator, 3, 3), static_cast<double>(updates));
  }

 private:
  static double usual_a(const std::string& function) { return function == "hinge" ? 10 : 0.5; }

  double factor(double staleness) const {
    if (function_ == "polynomial") return std::pow(staleness + 1, -a_);
    if (function_ == "hinge") return staleness <= b_ ? 1 : 1 / (a_ * (staleness - b_) + 1);
    return 1;
  }

  std::string function_;
  double alpha_, a_, b_;
};

}  // namespace

EventDrivenMethod fed_async_method() {
  std::vector<spec::ParameterSpec> parameters = FederatedAsync::common_parameters();
  parameters.push_back(spec::real_parameter("alpha", 1e-6, 1, "0.6", "share of a fresh client's model in the new one"));
  parameters.push_back(spec::choice_parameter(
      "staleness", "polynomial", {"constant", "polynomial", "hinge"},
      "how that share falls with the staleness, which is 1 of an update that no other overtook"));
  parameters.push_back(spec::real_parameter("a", kPaperA, 1000, "-1", "how fast it falls; -1: 0.5, hinge 10"));
  parameters.push_back(spec::real_parameter("b", 0, 1e9, "4", "the staleness from which it falls; hinge"));
  parameters.push_back(
      spec::real_parameter("mu", 0, 1e6, "0", "how strongly a client is held to the model that it was sent"));
  return {
      {.name = "fedasync",
       .description =
           "Clients train whenever there is room for them; the server mixes what each sends into the model at once, "
           "old ones in a smaller share.",
       .source = "Xie et al., Asynchronous Federated Optimization, 2019, arXiv 1903.03934",
       .payload = "d down and d up, per client whenever it is asked",
       .family = "asynchronous",
       .on_failure = "a client that fails is replaced by another",
       .parameters = std::move(parameters),
       .sharing = Sharing::event_driven,
       .check = [](const RunFacts& facts) -> RunFaults {
         const double a = std::stod(facts.run.parameters.at("a"));
         if (a >= 0 || a == kPaperA) return {};
         return {Fault{fmt::format("a = {} would make old updates count more", a), "0 or more, or -1 for the paper's"}};
       },
       .models_held = [](const spec::ParameterValues& values, double sites,
                         bool) { return FederatedAsync::models_held(values, sites, 1); }},
      [](const Setting& setting) { return std::make_unique<FedAsync>(setting); }};
}

}  // namespace dadsim::protocols
