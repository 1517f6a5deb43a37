#include "algorithms/rank_dad.hpp"

namespace dadsim::algorithms {

void RankDad::run(TrainingStep& step) {
  std::vector<Pending<Rows>> shared(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    const SiteFactors own = factorise_sites(step, l, options_);  // r_s × (in + out)
    shared[l] = step.exchange().combine(own.contribution(),
                                        mode_ == Mode::two_way ? refactorise(step, l, options_) : keep_all(step, l));
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) { step.gradient(l) = multiply(step, l, shared[l].wait()); });
}

AlgorithmInfo rank_dad_info() {
  return {
      .name = "rank-dad",
      .description =
          "Sites share a low-rank factorisation of their gradient, found by power iterations on activations and "
          "deltas.",
      .source =
          "Baker et al., arXiv 2102.09631; directions are kept orthogonal and small components are cut by their "
          "singular value, as in no released code",
      .payload = "r(p + q)",
      .sharing = Sharing::one_network,
      .exact = false,
      .parameters =
          {{.name = "cap",
            .type = spec::ParameterSpec::Type::integer,
            .minimum = 1,
            .maximum = 65536,
            .default_value = "8",
            .choices = {},
            .description = "most components a site sends per layer and step"},
           {.name = "iterations",
            .type = spec::ParameterSpec::Type::integer,
            .minimum = 1,
            .maximum = 1000,
            .default_value = "10",
            .choices = {},
            .description = "power iterations per component"},
           {.name = "tolerance",
            .type = spec::ParameterSpec::Type::real,
            .minimum = 0,
            .maximum = 1,
            .default_value = "0.01",
            .choices = {},
            .description = "components whose singular value is at most this share of the largest are not sent"},
           {.name = "mode",
            .type = spec::ParameterSpec::Type::choice,
            .minimum = 0,
            .maximum = 0,
            .default_value = "two-way",
            .choices = {"two-way", "one-way"},
            .description = "two-way: the components of all sites are compressed once more before they are handed back; "
                           "one-way: they are handed back as they are"},
           {.name = "padding",
            .type = spec::ParameterSpec::Type::choice,
            .minimum = 0,
            .maximum = 0,
            .default_value = "none",
            .choices = {"none", "cap"},
            .description =
                "none: only the components that were found are sent, and receivers are taken to know how "
                "many; cap: zeros fill them up to the cap (or what the matrix allows), so that all messages of a "
                "layer have one size"}},
      .make =
          [](const spec::ParameterValues& values) {
            const FactoriseOptions options{.cap = std::stoll(values.at("cap")),
                                           .iterations = std::stoll(values.at("iterations")),
                                           .tolerance = std::stod(values.at("tolerance"))};
            return std::make_unique<RankDad>(
                SharedFactorsOptions{options, values.at("padding") == "cap" ? Padding::cap : Padding::none},
                values.at("mode") == "one-way" ? RankDad::Mode::one_way : RankDad::Mode::two_way);
          },
      .lossless = {{"cap", "65536"}, {"tolerance", "0"}},
      // At most: its own factors, and those of all sites.
      .state =
          [](const spec::ParameterValues& values) {
            return estimate::AlgorithmState{(step::extent::rank(0) + step::extent::total_rank(0)) *
                                                (step::extent::in_with_bias() + step::extent::out()),
                                            static_cast<std::int32_t>(std::stoll(values.at("cap")))};
          },
  };
}

}  // namespace dadsim::algorithms
