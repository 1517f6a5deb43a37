#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

/// EF21 (Richtárik, Sokolov, Fatkhullin, NeurIPS 2021, arXiv 2106.05203, algorithm 2), with C the run's compressor and
/// G_s the gradient of site s with the weight N_s ÷ ΣN:
///   C_s = C(G_s − H_s),  H_s ← H_s + C_s,  H ← H + Σ_s C_s;  all apply H
/// H_s and H start at zero. Among peers every site has H. An aggregator whose messages lose something keeps the loss
/// and adds it to its next message (EF21-BC, Fatkhullin et al., arXiv 2110.03294). Numbers that are sent uncompressed
/// are summed.
///
/// H_s of a site that is absent stays as it was, and stays in H (EF21-PP, the same paper): ΣN then has the
/// rows that the site had last. Uncompressed numbers have no estimates: their sum is that of the sites present.
class Ef21 final : public Algorithm {
 public:
  void run(TrainingStep& step) override {
    Exchange& exchange = step.exchange();
    exchange.send_differences();
    const float share = exchange.compresses() && step.sites_change() ? share_present(step) : 1;
    if (share < 1) {
      step.set_site_weights(std::vector<float>(step.sites(), share));
      step.transform_non_matrix_parameters([share](std::size_t, models::Vector& sum) { sum /= share; },
                                           {.flops = step::extent::parameters(),
                                            .bytes_moved = 2.0 * cost::kFloatBytes * step::extent::parameters(),
                                            .launches = 1.0});
    }
    GradientSharing().run(step);  // gradient(l) = Σ_s C_s
    if (!exchange.compresses()) return;
    sums_.resize(step.matrices());
    step.backward_with_embeddings([&](std::size_t l) {
      using step::extent::parameters;
      step.charge(step::Phase::merge, step::Role::workers,
                  {{.flops = parameters(), .bytes_moved = 3.0 * cost::kFloatBytes * parameters(), .launches = 1.0}});
      models::LayerGradient& sum = sums_[l];
      models::LayerGradient& gradient = step.gradient(l);
      if (exchange.leaves_biases()) gradient.bias /= share;
      if (sum.weight.size() == 0) {
        sum = gradient;
        return;
      }
      gradient.weight = sum.weight += gradient.weight;
      if (!exchange.leaves_biases()) gradient.bias = sum.bias += gradient.bias;
    });
  }

 private:
  /// Returns the rows of the sites present ÷ the rows of all sites with an estimate.
  float share_present(const TrainingStep& step) {
    rows_.resize(step.all_sites());
    Eigen::Index present = 0;
    for (std::size_t site = 0; site < step.sites(); ++site) present += rows_[step.among_all(site)] = step.samples(site);
    return static_cast<float>(present) /
           static_cast<float>(std::accumulate(rows_.begin(), rows_.end(), Eigen::Index{0}));
  }

  std::vector<models::LayerGradient> sums_;  ///< H per matrix
  std::vector<Eigen::Index> rows_;           ///< per site among all: rows in its last step
};

}  // namespace

SynchronousMethod ef21_method() {
  return {
      {.name = "ef21",
       .family = "sparsification",
       .sends_gradients = true,
       .sums_in_buckets = true,
       .forgets = "its estimates already replace a memory",
       .check =
           [](const RunFacts& facts) {
             RunFaults faults;
             const spec::RunSpec& run = facts.run;
             const bool estimates = run.absence.goes_without() && run.compress.method != "none";
             if (estimates && run.weights != spec::SiteWeights::published) {
               faults.push_back(not_built(
                   fmt::format(
                       "absent=\"{}\" conflicts with 'weights': '{}' weights estimates of absent sites by their rows",
                       to_string(run.absence.does), run.algorithm),
                   "remove 'weights', or set absent=\"wait\" or \"restart\""));
             }
             if (estimates && run.absence.estimate == spec::AbsenceSpec::Estimate::unbiased) {
               faults.push_back(Fault{fmt::format("absent-weights=\"unbiased\" has no effect on '{}': estimates of "
                                                  "absent sites stay in the sum",
                                                  run.algorithm),
                                      "remove 'absent-weights'"});
             }
             if (compress::compressors().at(run.compress.method).has_momentum) {
               faults.push_back(
                   Fault{fmt::format("<compress method=\"{}\"> keeps momentum in a memory, but '{}' has no memory",
                                     run.compress.method, run.algorithm),
                         "set method=\"int8\" in <compress>"});
             }
             return faults;
           },
       // H_s and H.
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{2.0 * step::extent::in_with_bias() * step::extent::out(), 0, true};
           }},
      [](const spec::RunSpec&) { return std::make_unique<Ef21>(); }};
}

}  // namespace dadsim::algorithms
