#include <fmt/format.h>

#include <memory>
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
/// H_s and H start at zero. Among peers every site has H; an aggregator whose messages lose something keeps that and
/// adds it to the next (EF21-BC, Fatkhullin et al., arXiv 2110.03294). Numbers that are sent uncompressed are summed.
class Ef21 final : public Algorithm {
 public:
  void run(TrainingStep& step) override {
    Exchange& exchange = step.exchange();
    exchange.send_differences();
    GradientSharing().run(step);  // gradient(l) = Σ_s C_s
    if (!exchange.compresses()) return;
    sums_.resize(step.matrices());
    step.backward_with_embeddings([&](std::size_t l) {
      using step::extent::parameters;
      step.charge(step::Phase::merge, step::Role::workers,
                  {{.flops = parameters(), .bytes_moved = 3.0 * cost::kFloatBytes * parameters(), .launches = 1.0}});
      models::LayerGradient& sum = sums_[l];
      models::LayerGradient& gradient = step.gradient(l);
      if (sum.weight.size() == 0) {
        sum = gradient;
        return;
      }
      gradient.weight = sum.weight += gradient.weight;
      if (!exchange.leaves_biases()) gradient.bias = sum.bias += gradient.bias;
    });
  }

 private:
  std::vector<models::LayerGradient> sums_;  ///< H per matrix
};

}  // namespace

SynchronousMethod ef21_method() {
  return {{.name = "ef21",
           .family = "sparsification",
           .sends_gradients = true,
           .sums_in_buckets = true,
           .forgets = "its estimates take the place of a memory",
           // The estimate of a site that is absent would count with the weight that it had in another company.
           .check =
               [](const RunFacts& facts) {
                 RunFaults faults;
                 const spec::RunSpec& run = facts.run;
                 if (run.absence.goes_without() && run.compress.method != "none") {
                   faults.push_back(
                       not_built(fmt::format("absent=\"{}\": '{}' keeps estimates of sites that are absent in its sum",
                                             to_string(run.absence.does), run.algorithm),
                                 "absent=\"wait\" or \"restart\""));
                 }
                 if (compress::compressors().at(run.compress.method).has_momentum) {
                   faults.push_back(
                       Fault{fmt::format("<compress method=\"{}\"> has momentum in a memory, and '{}' has no memory",
                                         run.compress.method, run.algorithm),
                             "method=\"int8\" in <compress>"});
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
