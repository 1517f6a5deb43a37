#include "algorithms/sparse/top_k.hpp"

#include <memory>
#include <utility>

#include "algorithms/methods.hpp"
#include "algorithms/pieces/subspace.hpp"

namespace dadsim::algorithms {

void TopK::run(TrainingStep& step) {
  Exchange& exchange = step.exchange();
  memory_.resize(step.matrices());
  std::vector<Pending<models::Matrix>> biases(step.matrices());
  std::vector<Pending<Rows>> lists(step.matrices());

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<KeptEntries> own =
        take_largest_of_sites(step, l, fraction_, memory_[l]);  // sends C_s, and leaves E_s
    models::Matrix bias = models::Matrix::Zero(step.weights(l).bias.size(), 1);
    const auto bias_of = [&](std::size_t s) -> const models::Vector& { return memory_[l][step.among_all(s)].bias; };
    for (std::size_t s = 0; s < step.sites(); ++s) bias += bias_of(s);
    biases[l] = exchange.sum_as_it_is(beside_matrix(), std::move(bias),
                                      [&](std::size_t s) { return models::Matrix(bias_of(s)); });
    const Contribution::Part values{1.0, [&](std::size_t s) { return models::ConstBlock(own[s].values); }};
    const Contribution::Part indices{1.0, nullptr,
                                     [&](std::size_t s) { return std::span<const std::int32_t>(own[s].indices); }};
    lists[l] = exchange.combine({step::extent::kept(fraction_), {values, indices}, /*entries=*/true}, concatenation());
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) {
    step.gradient(l).bias = biases[l].wait().reshaped();
    step.gradient(l).weight = sum_of_lists(step, l, fraction_, lists[l].wait());
  });
}

SynchronousMethod top_k_method() {
  static constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "0.01",
                                                 "share of the entries of every matrix that a site sends, rounded up"};
  return {
      {.name = "top-k",
       .family = "sparsification",
       .parameters = {kFraction},
       .forgets = "its own memory keeps the entries that top-k drops, but not the errors of <compress>",
       .lossless = {{"fraction", "1"}},
       .retained_rank =
           [](const spec::ParameterValues& values) {
             return RetainedRank{step::extent::kept(kFraction.of(values)), step::extent::in() * step::extent::out()};
           },
       // Counts the error memory.
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::in() * step::extent::out(), 0, true};
           }},
      [](const spec::RunSpec& run) { return std::make_unique<TopK>(kFraction.of(run.parameters)); }};
}

}  // namespace dadsim::algorithms
