#include "algorithms/low_rank/power_sgd.hpp"

#include <utility>

#include "algorithms/exact/gradient_sharing.hpp"

namespace dadsim::algorithms {

models::Matrix PowerSgd::memory(std::size_t layer) const {
  models::Matrix sum = layers_[layer].memory.front();
  for (std::size_t i = 1; i < layers_[layer].memory.size(); ++i) sum += layers_[layer].memory[i];
  return sum;
}

Gradients PowerSgd::gradients_of_sites(TrainingStep& step, std::size_t l, models::Matrix& biases) const {
  Gradients gradients;
  if (!step.exchange().compresses() && !step.sites_change()) {
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

/// The state of one matrix within a step.
struct UnderWay {
  Gradients gradients;                      ///< G_s, out × in
  models::Matrix own_beside;                ///< biases, and the matrix itself where it is not compressed
  std::vector<models::Matrix> projections;  ///< P_s, out × r
  models::Matrix columns;                   ///< P̂, out × r
  models::Matrix rest;                      ///< what was sent beside P, of all sites
  Pending<models::Matrix> beside, p, q;
};

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
  followed_.resize(step.matrices());
  const SubspaceOptions options{options_.rank, options_.start == Start::random, options_.least_compression};
  Exchange& exchange = step.exchange();
  std::vector<UnderWay> matrices(step.matrices());
  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  const step::Expression compressed = options.compresses(r);  // 0 or 1
  const auto is_compressed = [&](std::size_t l) {
    return options.compresses(step.weights(l).in(), step.weights(l).out());
  };

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    UnderWay& m = matrices[l];
    m.gradients = gradients_of_sites(step, l, m.own_beside);  // G_s
    if (!is_compressed(l)) append_weights(m.gradients, m.own_beside);
    if (is_compressed(l)) followed_[l].add_gradients(step, l);
    step.backpropagate(l);
  });
  // Bucket by bucket beside the backward pass, as in the communication hook of PyTorch's DistributedDataParallel. The
  // numbers are those of the lines in power_sgd.hpp.
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
    if (options_.rounds == Rounds::three) copy_for_the_error(step, options, r);
    // (1) M_s = G_s + E_s, and (2) P_s = M_s Q.
    m.projections = project(step, l, std::move(m.gradients), layers_[l], options, r);
    m.beside =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.own_beside),
                              [&](std::size_t s) { return beside_of_site(step, l, s, !is_compressed(l)); });
    // (2) P = Σ_s P_s.
    if (options_.rounds == Rounds::two) sum_p(l);
  });
  if (options_.rounds == Rounds::three) {
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
    // (5) G = P̂ Qᵀ, and (6) E_s = M_s less its share of that.
    gradient.weight = reconstruct(step, m.columns, layers_[l], options, r);
    followed_[l].take_off(step, gradient.weight);
    if (options_.rounds == Rounds::two) m.rest = std::move(m.beside.wait());
    gradient.bias = m.rest.topRows(step.weights(l).bias.size()).reshaped();
    if (is_compressed(l)) return;
    gradient.weight = m.rest.bottomRows(m.rest.rows() - gradient.bias.size())
                          .reshaped<Eigen::RowMajor>(step.weights(l).out(), step.weights(l).in());
  });
}

}  // namespace dadsim::algorithms
