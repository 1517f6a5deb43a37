#include "algorithms/pieces/largest_entries.hpp"

#include "algorithms/cost.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

step::Expression entries() { return step::extent::in() * step::extent::out(); }

/// Work of M = G + E and the selection of its largest entries.
step::Work select_work(const step::Expression& kept) {
  step::Work work = compress::largest_work(entries(), kept);
  work.flops += entries();
  work.bytes_moved += 3.0 * cost::kFloatBytes * entries();
  work.launches += 1.0;
  return work;
}

/// Work of G = 0 and adding the entries of all sites one by one: value and index read, entry read and written.
step::Work add_work(const step::Expression& kept, double sites) {
  return {.flops = sites * kept,
          .bytes_moved = cost::kFloatBytes * (entries() + 4.0 * sites * kept),
          .launches = 1.0 + sites};
}

}  // namespace

std::vector<KeptEntries> take_largest_of_sites(TrainingStep& step, std::size_t l, double fraction,
                                               std::vector<models::LayerGradient>& memory) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  step.charge(step::Phase::factorise, step::Role::workers, {select_work(step::extent::kept(fraction))});
  memory.resize(step.all_sites());
  std::vector<KeptEntries> chosen(step.sites());
  parallel_for(step.sites(), [&](std::size_t s) {
    models::LayerGradient& own = memory[step.among_all(s)];
    if (own.weight.size() == 0) own.weight.setZero(weights.out(), weights.in());
    own.bias.setZero(weights.bias.size());
    add_to(s, own);
    chosen[s] = take_largest(own.weight, step::kept_entries(fraction, weights.in(), weights.out()));
  });
  return chosen;
}

models::Matrix sum_of_lists(TrainingStep& step, std::size_t l, double fraction, const Rows& lists) {
  const auto sites = static_cast<double>(step.sites());
  step.charge(step::Phase::weight_gradient, step::Role::workers, {add_work(step::extent::kept(fraction), sites)});
  models::Matrix sum = models::Matrix::Zero(step.weights(l).out(), step.weights(l).in());
  add_kept(lists[0], lists.whole.front(), sum);
  return sum;
}

}  // namespace dadsim::algorithms
