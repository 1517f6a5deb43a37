
#include <cmath>

#include "protocols/local/local_rounds.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {
namespace {

/// Local SGD (Stich, arXiv 1805.09767): every worker takes H steps on its own, then all take the mean of their weights.
/// The optimizer's state (momentum) stays with the worker. With `post-local`, H is 1 for the first epochs (post-local
/// SGD; Lin et al., arXiv 1808.07217).
class LocalSgd final : public LocalRounds {
 public:
  static constexpr spec::RealParameter kPostLocal{"post-local", 0, 1e6, "0", "epochs with a period of 1 before"};

  explicit LocalSgd(const Setting& setting);

 protected:
  std::int64_t steps_of_round(std::int64_t first) const override;

 private:
  std::int64_t until_ = 0;  ///< steps with H = 1
};

}  // namespace

LocalSgd::LocalSgd(const Setting& setting) : LocalRounds(setting) {
  until_ = std::llround(setting.value(kPostLocal) * static_cast<double>(setting.learning.steps_per_epoch()));
}

std::int64_t LocalSgd::steps_of_round(std::int64_t first) const {
  return first < until_ ? 1 : LocalRounds::steps_of_round(first);
}

EventDrivenMethod local_sgd_method() {
  EventDrivenMethod info{
      {.name = "local-sgd",
       .description = "Every worker takes some steps on its own, then all wait for each other and take the mean of "
                      "their weights (local SGD; post-local SGD).",
       .source = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019, arXiv 1805.09767; Lin et al., "
                 "Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv 1808.07217",
       .payload = "d up and d down, per worker and period",
       .family = "local-steps",
       .on_failure = "a worker that goes down is not waited for, and takes part again from the round after it is back, "
                     "its optimizer begun anew; what is lost on the way is sent again after 5 s",
       .parameters = LocalSteps::parameters("8"),
       .sharing = Sharing::event_driven,
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::parameters()};  // the weights that the round began with
           },
       .models_held = LocalSteps::models_held},
      [](const Setting& setting) { return std::make_unique<LocalSgd>(setting); }};
  info.parameters.push_back(LocalSgd::kPostLocal);
  return info;
}

}  // namespace dadsim::protocols
