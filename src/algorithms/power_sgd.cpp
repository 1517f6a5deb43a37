#include "algorithms/power_sgd.hpp"

#include <utility>

#include "algorithms/gradient_sharing.hpp"

namespace dadsim::algorithms {

models::Matrix PowerSgd::memory(std::size_t layer) const {
  models::Matrix sum = layers_[layer].memory.front();
  for (std::size_t i = 1; i < layers_[layer].memory.size(); ++i) sum += layers_[layer].memory[i];
  return sum;
}

Gradients PowerSgd::gradients_of_sites(TrainingStep& step, std::size_t l, models::Matrix& biases) const {
  Gradients gradients;
  if (!step.exchange().compresses()) {
    step.form_gradient(l);
    biases = step.gradient(l).bias;
    gradients.push_back(std::move(step.gradient(l).weight));
    return gradients;
  }
  const models::WeightsOf<float>& weights = step.weights(l);
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  biases.setZero(weights.bias.size(), 1);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    add_to(site, own);
    biases += own.bias;
    gradients.push_back(std::move(own.weight));
  }
  return gradients;
}

namespace {

/// Behind the biases, row by row; linear in the rows of the sites, and so summed over them already.
void append_weights(const Gradients& of_sites, models::Matrix& beside) {
  const Eigen::Index before = beside.rows();
  beside.conservativeResize(before + of_sites.front().size(), 1);
  beside.bottomRows(of_sites.front().size()).setZero();
  for (const models::Matrix& gradient : of_sites) {
    beside.bottomRows(gradient.size()) += gradient.reshaped<Eigen::RowMajor>();
  }
}

}  // namespace

void PowerSgd::run(TrainingStep& step) {
  if (step.number() < options_.uncompressed_steps) {
    GradientSharing().run(step);
    return;
  }
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  const SubspaceOptions options{options_.rank, options_.start == Start::random, options_.least_compression};
  Exchange& exchange = step.exchange();
  std::vector<Gradients> gradients(step.matrices());
  std::vector<models::Matrix> own_beside(step.matrices());
  std::vector<Pending<models::Matrix>> beside(step.matrices()), p(step.matrices()), q(step.matrices());
  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  const step::Expression compressed = options.compresses(r);  // 0 or 1
  const auto is_compressed = [&](std::size_t l) {
    return options.compresses(step.weights(l).in(), step.weights(l).out());
  };

  // Bucket by bucket beside the backward pass, as in the communication hook of PyTorch's DistributedDataParallel.
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    gradients[l] = gradients_of_sites(step, l, own_beside[l]);
    if (!is_compressed(l)) append_weights(gradients[l], own_beside[l]);
    step.backpropagate(l);
  });
  std::vector<std::vector<models::Matrix>> projections(step.matrices());
  const auto send_p = [&](std::size_t l) { p[l] = exchange.sum(compressed * r * out(), std::move(projections[l])); };
  step.stage_of_buckets([&](std::size_t l) {
    projections[l] = project(step, l, std::move(gradients[l]), layers_[l], options, r);
    beside[l] =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(own_beside[l]));
    if (options_.rounds == Rounds::two) send_p(l);
  });
  std::vector<models::Matrix> rest(step.matrices());
  if (options_.rounds == Rounds::three) {
    step.stage_of_buckets([&](std::size_t l) {
      rest[l] = std::move(beside[l].wait());
      send_p(l);
    });
  }
  std::vector<models::Matrix> columns(step.matrices());  // P̂
  step.stage_of_buckets([&](std::size_t l) {
    columns[l] = std::move(p[l].wait());
    q[l] = exchange.sum(compressed * r * in(), project_back(step, columns[l], layers_[l], options, r));
  });
  step.stage_of_buckets([&](std::size_t l) {
    models::LayerGradient& gradient = step.gradient(l);
    layers_[l].basis = std::move(q[l].wait());
    gradient.weight = reconstruct(step, columns[l], layers_[l], options, r);
    if (options_.rounds == Rounds::two) rest[l] = std::move(beside[l].wait());
    gradient.bias = rest[l].topRows(step.weights(l).bias.size()).reshaped();
    if (is_compressed(l)) return;
    gradient.weight = rest[l]
                          .bottomRows(rest[l].rows() - gradient.bias.size())
                          .reshaped<Eigen::RowMajor>(step.weights(l).out(), step.weights(l).in());
  });
}

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
       .checks =
           "The printed algorithm, site by site in double: to 2e-5 over 8 steps (tests/algorithms/power_sgd_test.cpp)\n"
           "A gradient of rank r or less is exact at once\n"
           "Bytes per epoch of Table 3: 4, 8, 14 MB and 25, 38, 64 MB, by running it "
           "(tests/algorithms/power_sgd_bytes_test.cpp)",
       .parameters = {kRank, kStart, kLeastCompression, kRounds, kUncompressedSteps},
       .sums_in_buckets = true,
       .lossless = {{"rank", "65536"}, {"least-compression", "0"}},
       // Of the components of the gradient of all sites.
       .reach =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
             const step::Expression all = min({in(), delta_directions(), all_rows()});
             const step::Expression rank = min({static_cast<double>(kRank.of(values)), in(), out()});
             const SubspaceOptions options{.least_compression = kLeastCompression.of(values)};
             const step::Expression compressed = options.compresses(rank);
             return Reach{min({compressed * rank + (1.0 - compressed) * all, all}), all};
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
