// Algorithms of XLA among TPUs: rings in both directions of each axis of the torus (scaling book of DeepMind,
// jax-ml.github.io/ scaling-book/sharding, 2025: an all-gather along an axis sends in both directions; several axes are
// used at once). XLA has no setting for the algorithm.
#include "collectives/libraries.hpp"

namespace dadsim::collectives {

std::vector<CollectiveChoice> xla_choices(const CollectiveRequest& request, const RankLayout& layout) {
  using step::CollectiveKind;
  switch (request.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
      return {{layout.torus.empty() ? "ring" : "torus"}};
    default: {
      std::vector<CollectiveChoice> choices = mpi_choices(request, layout);
      choices.resize(1);
      return choices;
    }
  }
}

}  // namespace dadsim::collectives
