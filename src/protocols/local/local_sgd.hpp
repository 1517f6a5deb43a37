#pragma once

#include "protocols/local/local_rounds.hpp"

namespace dadsim::protocols {

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

EventDrivenMethod local_sgd_method();

}  // namespace dadsim::protocols
