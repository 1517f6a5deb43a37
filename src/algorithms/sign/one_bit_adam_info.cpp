#include <fmt/format.h>

#include <memory>

#include "algorithms/sign/one_bit_adam.hpp"
#include "methods/idle_parameters.hpp"

namespace dadsim::algorithms {

namespace {

constexpr spec::RealParameter kWarmUpShare{"warm-up-share", 0, 1, "0.2",
                                           "T as a share of the steps that the run may take (the paper: 15 to 25 %)"};
constexpr spec::IntegerParameter kWarmUpSteps{"warm-up-steps", 0, 1e9, "0",
                                              "T itself; 0: the share of the steps says it"};

/// Through an aggregator, which is always there, what compressing the average has lost is in one place.
RunFaults one_bit_adam_faults(const RunFacts& facts) {
  RunFaults faults = methods::faults_of_idle_parameters(
      facts.run.parameters, {{.parameter = kWarmUpShare, .other = kWarmUpSteps, .without = true}});
  if (!facts.run.absence.goes_without() || facts.run.exchange == spec::ExchangeMode::aggregator) return faults;
  faults.push_back(
      Fault{fmt::format("absent=\"{}\": '{}' among peers takes no step without a site: each averages a block, and "
                        "alone keeps what compressing that average has lost",
                        to_string(facts.run.absence.does), facts.run.algorithm),
            "exchange=\"aggregator\"; or absent=\"wait\" or \"restart\""});
  return faults;
}

}  // namespace

SynchronousMethod one_bit_adam_method() {
  return {
      {.name = "one-bit-adam",
       .description = "Adam at first; then its variance stays as it is, and sites exchange the signs of its momentum "
                      "with the errors fed back (1-bit Adam).",
       .source = "Tang, Gan, Awan, Rajbhandari, Li, Lian, Liu, Zhang, He, 1-bit Adam, ICML 2021, arXiv 2102.02888; "
                 "reference implementation in DeepSpeed",
       .payload =
           "pq + q until the variance is frozen; then (pq + q)/32 and a scale, twice among peers (all-to-all and "
           "all-gather)",
       .family = "quantisation",
       .formula = "t ≤ T: Adam on Σ_s g_s;  then v̂ = v_T / (1 − β₂ᵀ) stays as it is, and\n"
                  "y_s = w_s β₁ m + (1 − β₁) g_s + e_s;  ŷ_s = (‖y_s‖₂ / √d) sgn y_s;  e_s ← y_s − ŷ_s\n"
                  "z_b = Σ_s ŷ_s + e_b;  m_b = (‖z_b‖₂ / √d_b) sgn z_b;  e_b ← z_b − m_b   (block b)\n"
                  "W ← W − η m / (√v̂ + ε)",
       .compute =
           "a norm, a sign and two errors per parameter at every site; the sum of a block over sites with another "
           "norm, sign and error where it is combined: at the aggregator, or at every peer a block",
       .checks =
           "until T, gradient sharing with Adam and with AdamW to the bit\n"
           "after it, what arrives and what both ways keep add up to the momentum that was wanted, to 1e-5, at one "
           "to five sites, one of them without rows\n"
           "the step against v of Adam, to 1e-5; what had no gradient stays where it is\n"
           "digits at four sites, 1000 samples, ten epochs: 85.0 % where Adam reaches 85.6 %",
       .parameters = {kWarmUpShare, kWarmUpSteps},
       .compresses = false,
       .optimizer = Needs::adam,
       .check = one_bit_adam_faults,
       .lossless = {{"warm-up-share", "1"}},
       // e of the site and of its block; m and v are Adam's.
       .state =
           [](const spec::ParameterValues&) {
             const step::Expression numbers = step::extent::in_with_bias() * step::extent::out();
             return estimate::AlgorithmState{numbers + step::extent::quotient(numbers, step::extent::over_workers(1.0)),
                                             0, true};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<OneBitAdam>(OneBitAdam::Options{.warm_up_share = kWarmUpShare.of(run.parameters),
                                                                .warm_up_steps = kWarmUpSteps.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
