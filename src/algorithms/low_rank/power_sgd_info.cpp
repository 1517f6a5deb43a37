#include <memory>

#include "algorithms/low_rank/power_sgd.hpp"

namespace dadsim::algorithms {

SynchronousMethod power_sgd_method() {
  static constexpr spec::IntegerParameter kRank{
      "rank", 1, 65536, "2", "components of every matrix, as far as it has as many rows and columns"};
  static constexpr auto kStart =
      spec::choice<PowerSgd::Start>("start", {{"warm", PowerSgd::Start::warm}, {"random", PowerSgd::Start::random}},
                                    "warm: from the directions of the step before; random: from directions drawn "
                                    "anew in every step");
  static constexpr spec::RealParameter kLeastCompression{
      "least-compression", 0, 1e6, "2",
      "a matrix is sent as it is unless that takes more than this many times as much "
      "as P and Q; 2 is that of PyTorch's hook and the authors' library, the paper "
      "compresses every matrix (0)"};
  static constexpr auto kRounds =
      spec::choice<PowerSgd::Rounds>("rounds", {{"two", PowerSgd::Rounds::two}, {"three", PowerSgd::Rounds::three}},
                                     "two: what is not compressed travels beside P, as in the authors' program; three: "
                                     "before it, and P waits for it, as in PyTorch's hook");
  static constexpr spec::IntegerParameter kUncompressedSteps{
      "uncompressed-steps", 0, 1e9, "0",
      "steps of gradient sharing before the first that compresses; the paper has none, the hook of "
      "PyTorch's DistributedDataParallel 1000 (10 in its first version)"};
  return {
      {.name = "power-sgd",
       .description =
           "Sites share one step of subspace iteration on the sum of their gradients and keep the error for the next "
           "step.",
       .source = "Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019, arXiv 1905.13727",
       .payload = "r(p + q), and the q biases",
       .family = "low-rank",
       .formula = "M_s = G_s + E_s\n"
                  "P = orthonormal columns of Σ_s M_s Q\n"
                  "Q = Σ_s M_sᵀ P\n"
                  "G = P Qᵀ, E_s = M_s − G N_s ÷ ΣN",
       .compute = "two products with r columns, Gram–Schmidt, and P Qᵀ",
       .checks = "The printed algorithm, site by site in double: to 2e-5 over 8 steps "
                 "(tests/algorithms/low_rank/power_sgd_test.cpp)\n"
                 "A gradient of rank r or less is exact at once\n"
                 "Bytes per epoch of Table 3: 4, 8, 14 MB and 25, 38, 64 MB, by running it "
                 "(tests/algorithms/power_sgd_bytes_test.cpp)",
       .parameters = {kRank, kStart, kLeastCompression, kRounds, kUncompressedSteps},
       .sends_sums = true,
       .sums_in_buckets = true,
       // The first steps send gradients, the others P and Q: what is lost of a message has to be of the same shape.
       .check =
           [](const RunFacts& facts) {
             const spec::CompressSpec& compress = facts.run.compress;
             if (kUncompressedSteps.of(facts.run.parameters) == 0 || compress.method == "none" || !compress.memory)
               return RunFaults();
             return RunFaults{not_built(
                 "<compress memory=\"true\"> beside uncompressed-steps: what is lost of their gradients is no "
                 "part of P and Q",
                 "memory=\"false\", or uncompressed-steps=\"0\"")};
           },
       .lossless = {{"rank", "65536"}, {"least-compression", "0"}},
       // Of the components of the gradient of all sites.
       .retained_rank =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
             const step::Expression all = min({in(), delta_directions(), all_rows()});
             const step::Expression rank = min({static_cast<double>(kRank.of(values)), in(), out()});
             const SubspaceOptions options{.least_compression = kLeastCompression.of(values)};
             const step::Expression compressed = options.compresses(rank);
             return RetainedRank{min({compressed * rank + (1.0 - compressed) * all, all}), all};
           },
       // The memory of the error, P and Q.
       .state =
           [](const spec::ParameterValues& values) {
             return estimate::AlgorithmState{
                 step::extent::in() * step::extent::out() +
                     step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                 static_cast<std::int32_t>(kRank.of(values)), true};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<PowerSgd>(
            PowerSgd::Options{.rank = kRank.of(run.parameters),
                              .start = kStart.of(run.parameters),
                              .least_compression = kLeastCompression.of(run.parameters),
                              .rounds = kRounds.of(run.parameters),
                              .uncompressed_steps = kUncompressedSteps.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
