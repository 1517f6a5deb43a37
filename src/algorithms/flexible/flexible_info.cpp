#include <algorithm>

#include "algorithms/flexible/flexible.hpp"
#include "algorithms/flexible/rehearsal.hpp"

namespace dadsim::algorithms {
namespace {

bool chooses(const spec::ParameterValues& values) { return values.at("policy") != "rules"; }

bool flexible_is_exact(const spec::RunSpec& run) {
  if (chooses(run.parameters)) return run.parameters.at("lossy") == "false";
  return run.parameters.at("default") != "rank-dad" && std::ranges::none_of(run.share, [](const spec::ShareRule& rule) {
           return rule.statistic == "rank-dad" || rule.statistic == "none";
         });
}

std::unique_ptr<Algorithm> make_flexible(const spec::RunSpec& run) {
  if (!chooses(run.parameters)) return std::make_unique<Flexible>(run);
  return std::make_unique<Rehearsal>(run, factors_of(run.parameters));
}

spec::ParameterSpec choice(const char* name, std::vector<std::string> choices, const char* description) {
  spec::ParameterSpec parameter;
  parameter.name = name;
  parameter.type = spec::ParameterSpec::Type::choice;
  parameter.default_value = choices.front();
  parameter.choices = std::move(choices);
  parameter.description = description;
  return parameter;
}

}  // namespace

AlgorithmInfo flexible_info() {
  AlgorithmInfo info;
  info.name = "flexible";
  info.description =
      "Each layer is shared in a way of its own: gradient, dAD, edAD or rank-dAD, by rules, or by what is least.";
  info.source =
      "in the spirit of Baker et al., arXiv 2102.09631, \"flexible training schemas\"; which rules there are is the "
      "reading chosen here";
  info.payload = "pq, N(p + q), Np or r(p + q), layer by layer";
  info.family = "flexible";
  info.sums_in_buckets = true;
  info.formula =
      "G_l = Σ_s Δ_sᵀ A_s, or Δ̂ᵀ Â of the rows of all sites, or Lᵀ R of their factors, as the rule of l says\n"
      "Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'(Â) where layer l − 1 is edad\n"
      "every k: G_l = Σ of k steps, and W_l stays in between\n"
      "policy: per layer the statistic with the fewest bytes, or the least time on the cluster";
  info.compute = "what the statistic of each layer takes; gradients of several steps are added up";
  info.sharing = Sharing::one_network;
  info.exact = true;
  info.parameters = {
      choice("policy", {"rules", "bytes", "time"},
             "rules: as <share> and default say; bytes: each layer takes the statistic with which the fewest bytes are "
             "sent; time: those with which a step takes the least time on its cluster"),
      choice("default", {"gradient", "dad", "edad", "rank-dad"}, "how layers are shared that no <share> names"),
      choice("lossy", {"false", "true"}, "true: bytes and time may choose rank-dad too"),
      {.name = "cap",
       .type = spec::ParameterSpec::Type::integer,
       .minimum = 1,
       .maximum = 65536,
       .default_value = "8",
       .choices = {},
       .description = "rank-dad: most components a site sends per layer and step"},
      {.name = "iterations",
       .type = spec::ParameterSpec::Type::integer,
       .minimum = 1,
       .maximum = 1000,
       .default_value = "10",
       .choices = {},
       .description = "rank-dad: power iterations per component"},
      {.name = "tolerance",
       .type = spec::ParameterSpec::Type::real,
       .minimum = 0,
       .maximum = 1,
       .default_value = "0.01",
       .choices = {},
       .description = "rank-dad: components whose singular value is at most this share of the largest are not sent"}};
  info.make_of_run = make_flexible;
  info.exact_with = flexible_is_exact;
  info.check_share = faults_of_share;
  // A gradient and its factors are not the same once both have been rounded.
  info.compresses = [](const spec::ParameterValues& values) { return !chooses(values); };
  info.rehearses = chooses;
  info.lossless = {{"cap", "65536"}, {"tolerance", "0"}};
  // At most, beside what comes together over steps: A and Δ of all sites. Where bytes decide, these are only taken
  // where they are less than twice the gradient: what they send, (S + 1) times or S − 1 times as many numbers, is less
  // than what gradients send, 2 S or 2 (S − 1) times theirs.
  info.state = [](const spec::ParameterValues& values) {
    const step::Expression rows = step::extent::all_rows() * (step::extent::in() + step::extent::out());
    if (!chooses(values) && values.at("default") == "gradient") return estimate::AlgorithmState{};
    if (values.at("policy") == "bytes") {
      return estimate::AlgorithmState{step::extent::min({rows, 2.0 * step::extent::parameters()})};
    }
    return estimate::AlgorithmState{rows};
  };
  // Of layers that are shared as rank-dAD shares them.
  info.reach = [](const spec::ParameterValues& values) {
    using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
    const step::Expression all = min({in_with_bias(), delta_directions(), all_rows()});
    return Reach{min({std::stod(values.at("cap")), all}), all};
  };
  info.checks =
      "the pooled gradient to 1e-5, with gradients, dAD and edAD mixed over two to five layers, five activations and 1 "
      "to 16 sites, and so do both policies\n"
      "every 3 against plain SGD on batches three times as large with three times the rate: the loss to 1e-4, the "
      "bytes "
      "the same, with every statistic\n"
      "the plan of the fewest bytes is the least of all mixtures of three layers, by force; that of the least time is "
      "within 1 % of it\n"
      "layers of a site's own: with nothing shared the loss of no-sharing to 1e-5; shared layers the same to the bit";
  return info;
}

}  // namespace dadsim::algorithms
