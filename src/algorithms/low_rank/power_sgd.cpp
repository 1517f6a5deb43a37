#include "algorithms/low_rank/power_sgd.hpp"

#include <memory>
#include <utility>

#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/methods.hpp"

namespace dadsim::algorithms {

void FollowedSites::add_gradients(TrainingStep& step, std::size_t l) {
  if (!known_ || step.is_embedding(l)) return;
  if (!step.exchange().tap().follows_parts() || step.sites_change()) {
    known_ = false;
    of_sites_.clear();
    return;
  }
  const models::WeightsOf<float>& weights = step.weights(l);
  of_sites_.resize(step.sites());
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (!step.exchange().tap().looks_at(site)) continue;
    if (of_sites_[site].size() == 0) of_sites_[site] = models::Matrix::Zero(weights.out(), weights.in());
    if (step.samples(site) == 0) continue;
    of_sites_[site].noalias() += step.delta(site, l).transpose() * step.input(site, l);
  }
}

void FollowedSites::take_off(const TrainingStep& step, const models::Matrix& applied) {
  if (!known()) return;
  Eigen::Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (of_sites_[site].size() == 0) continue;
    of_sites_[site] -= (static_cast<float>(step.samples(site)) / static_cast<float>(all)) * applied;
  }
}

void FollowedSites::take_off_projection(const models::Matrix& basis, bool transposed) {
  for (models::Matrix& of_site : of_sites_) {
    if (of_site.size() == 0) continue;
    of_site -= transposed ? models::Matrix(basis * (basis.transpose() * of_site))
                          : models::Matrix((of_site * basis) * basis.transpose());
  }
}

models::Matrix beside_of_site(const TrainingStep& step, std::size_t l, std::size_t site, bool with_weights) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const Eigen::Index biases = weights.bias.size();
  models::Matrix column = models::Matrix::Zero(biases + (with_weights ? weights.weight.size() : 0), 1);
  if (step.samples(site) == 0 || step.is_embedding(l)) return column;
  const models::ConstBlock delta = step.delta(site, l);
  if (biases > 0) column.topRows(biases) = delta.colwise().sum().transpose();
  if (with_weights) {
    const models::Matrix gradient = delta.transpose() * step.input(site, l);
    column.bottomRows(gradient.size()) = gradient.reshaped<Eigen::RowMajor>();
  }
  return column;
}

models::Matrix PowerSgd::memory(std::size_t layer) const {
  models::Matrix sum = layers_[layer].memory.front();
  for (std::size_t i = 1; i < layers_[layer].memory.size(); ++i) sum += layers_[layer].memory[i];
  return sum;
}

namespace {

/// State of one matrix within a step.
struct UnderWay {
  Gradients gradients;                      ///< G_s, out × in
  models::Matrix own_beside;                ///< biases; the matrix too if it is not compressed
  std::vector<models::Matrix> projections;  ///< P_s, out × r
  models::Matrix columns;                   ///< P̂, out × r
  models::Matrix rest;                      ///< sum over sites of the numbers sent next to P
  Pending<models::Matrix> beside, p, q;
};

}  // namespace

void PowerSgd::run(TrainingStep& step) {
  if (step.number() < options_.uncompressed_steps) {
    GradientSharing().run(step);
    return;
  }
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  followed_.resize(step.matrices());
  const SubspaceOptions options{options_.rank, options_.start == Start::random, options_.least_compression};
  Exchange& exchange = step.exchange();
  std::vector<UnderWay> matrices(step.matrices());
  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  const step::Expression compressed = options.compresses(r);  // 1 if compressed, else 0
  const auto is_compressed = [&](std::size_t l) {
    return options.compresses(step.weights(l).in(), step.weights(l).out());
  };

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    UnderWay& m = matrices[l];
    m.gradients = form_gradients(step, l, is_compressed(l), m.own_beside);  // G_s
    if (is_compressed(l)) followed_[l].add_gradients(step, l);
    step.backpropagate(l);
  });
  // Sends bucket by bucket, overlapped with the backward pass, like the communication hook of PyTorch's
  // DistributedDataParallel. Numbers in brackets refer to the lines in power_sgd.hpp.
  const auto part = [&](std::size_t l, const std::function<models::Matrix(const models::Matrix& of_site)>& make) {
    return followed_[l].known() ? Exchange::PartOfSum([this, l, make](std::size_t s) { return make(followed_[l][s]); })
                                : nullptr;
  };
  const auto sum_p = [&](std::size_t l) {
    matrices[l].p = exchange.sum(compressed * r * out(), std::move(matrices[l].projections),
                                 part(l, [&](const auto& m_s) { return models::Matrix(m_s * layers_[l].basis); }));
  };
  step.stage_of_buckets([&](std::size_t l) {
    UnderWay& m = matrices[l];
    if (options_.rounds == SubspaceRounds::three) copy_for_the_error(step, options, r);
    // (1) M_s = G_s + E_s, and (2) P_s = M_s Q.
    m.projections = project(step, l, std::move(m.gradients), layers_[l], options, r);
    m.beside =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.own_beside),
                              [&](std::size_t s) { return beside_of_site(step, l, s, !is_compressed(l)); });
    // (2) P = Σ_s P_s.
    if (options_.rounds == SubspaceRounds::two) sum_p(l);
  });
  if (options_.rounds == SubspaceRounds::three) {
    step.stage_of_buckets([&](std::size_t l) {
      matrices[l].rest = std::move(matrices[l].beside.wait());
      sum_p(l);
    });
  }
  step.stage_of_buckets([&](std::size_t l) {
    UnderWay& m = matrices[l];
    m.columns = std::move(m.p.wait());
    // (3) P̂ = orthonormalise(P), and (4) Q = Σ_s M_sᵀ P̂.
    std::vector<models::Matrix> own = project_back(step, m.columns, layers_[l], options, r);
    m.q = exchange.sum(compressed * r * in(), std::move(own),
                       part(l, [&](const auto& m_s) { return models::Matrix(m_s.transpose() * m.columns); }));
  });
  step.stage_of_buckets([&](std::size_t l) {
    UnderWay& m = matrices[l];
    models::LayerGradient& gradient = step.gradient(l);
    layers_[l].basis = std::move(m.q.wait());
    // (5) G = P̂ Qᵀ, and (6) E_s = M_s − N_s ÷ ΣN · G.
    gradient.weight = reconstruct(step, m.columns, layers_[l], options, r);
    followed_[l].take_off(step, gradient.weight);
    if (options_.rounds == SubspaceRounds::two) m.rest = std::move(m.beside.wait());
    take_beside(step, l, is_compressed(l), m.rest);
  });
}

SynchronousMethod power_sgd_method() {
  static constexpr spec::IntegerParameter kRank{"rank", 1, 65536, "2",
                                                "components per matrix, at most its rows or columns"};
  static constexpr auto kStart = spec::choice<PowerSgd::Start>(
      "start", {{"warm", PowerSgd::Start::warm}, {"random", PowerSgd::Start::random}},
      "warm: start from the directions of the last step; random: draw new directions in every step");
  static constexpr spec::RealParameter kLeastCompression{
      "least-compression", 0, 1e6, "2",
      "a matrix is compressed only if it is larger than P and Q by more than this factor; PyTorch's hook and the "
      "authors' library use 2, the paper compresses every matrix (0)"};
  static constexpr auto kRounds = spec::choice<PowerSgd::SubspaceRounds>(
      "rounds", {{"two", PowerSgd::SubspaceRounds::two}, {"three", PowerSgd::SubspaceRounds::three}},
      "two: send uncompressed numbers together with P, as in the authors' program; three: send them before P, in their "
      "own round, as in PyTorch's hook");
  static constexpr spec::IntegerParameter kUncompressedSteps{
      "uncompressed-steps", 0, 1e9, "0",
      "first steps without compression; 0 in the paper, 1000 in the hook of PyTorch's DistributedDataParallel (10 in "
      "its first version)"};
  return {
      {.name = "power-sgd",
       .family = "low-rank",
       .parameters = {kRank, kStart, kLeastCompression, kRounds, kUncompressedSteps},
       .sends_sums = true,
       .sums_in_buckets = true,
       // Reports remembered errors with uncompressed steps: the first steps send gradients, later ones P and Q, and an
       // error memory needs messages of one shape.
       .check =
           [](const RunFacts& facts) {
             const spec::CompressSpec& compress = facts.run.compress;
             if (kUncompressedSteps.of(facts.run.parameters) == 0 || compress.method == "none" || !compress.memory)
               return RunFaults();
             return RunFaults{
                 not_built("<compress memory=\"true\"> conflicts with uncompressed-steps: errors of uncompressed "
                           "gradients do not fit P and Q",
                           "set memory=\"false\", or uncompressed-steps=\"0\"")};
           },
       .lossless = {{"rank", "65536"}, {"least-compression", "0"}},
       // Returns the rank kept of the gradient of all sites.
       .retained_rank =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
             const step::Expression all = min({in(), delta_directions(), all_rows()});
             const step::Expression rank = min({static_cast<double>(kRank.of(values)), in(), out()});
             const SubspaceOptions options{.least_compression = kLeastCompression.of(values)};
             const step::Expression compressed = options.compresses(rank);
             return RetainedRank{min({compressed * rank + (1.0 - compressed) * all, all}), all};
           },
       // Counts the error memory, P and Q.
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
