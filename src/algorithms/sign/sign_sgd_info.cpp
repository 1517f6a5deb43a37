#include <memory>

#include "algorithms/sign/sign_sgd.hpp"

namespace dadsim::algorithms {

SynchronousMethod sign_sgd_method() {
  static constexpr spec::FloatParameter kMomentum{"momentum", 0, 0.9999, "0",
                                                  "β of every site's own momentum: 0 is signSGD, 0.9 Signum"};
  static constexpr auto kZeros = spec::choice<SignSgd::Zeros>(
      "zeros",
      {{"random", SignSgd::Zeros::random}, {"plus", SignSgd::Zeros::plus}, {"abstain", SignSgd::Zeros::abstain}},
      "random: one bit, where a zero votes and a tie falls at random; plus: one bit, "
      "where both are +1; abstain: two bits, where a zero has no vote and a tie moves "
      "nothing");
  return {
      {.name = "sign-sgd",
       .description = "Sites vote with the signs of their gradients, and all step the way of the majority.",
       .source =
           "signSGD: Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018, arXiv 1802.04434; majority vote and "
           "Signum: Bernstein, Zhao, Azizzadenesheli, Anandkumar, ICLR 2019, arXiv 1810.05291",
       .payload = "(pq + q)/32: a bit of each gradient, biases too",
       .family = "quantisation",
       .formula = "m_s ← β m_s + (1 − β) g_s\n"
                  "V = sgn Σ_s sgn(m_s)\n"
                  "W ← W − η (V + λ W)",
       .compute =
           "a comparison per parameter (and the momentum, three operations), and, where votes are counted, a sum "
           "over sites: at the aggregator, or at every peer alike",
       .checks =
           "the votes of one to four sites counted by hand, ties among them; one site: the sign of its gradient\n"
           "Signum against its recursion over ten steps, to the bit\n"
           "messages of one and two bits a number, as long as they say\n"
           "digits at four sites, 1000 samples, ten epochs: 82.0 % (Signum 84.8 %) where SGD reaches 83.8 %; 75.8 % "
           "where zeros and ties are always +1",
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
