// Pairwise reduce-scatter (Thakur, Rabenseifner, Gropp 2005, section 3.3), MPICH's algorithm for long vectors. N − 1
// rounds: in round k rank r sends to r + k that rank's block, and receives its own from r − k.
#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class Pairwise final : public BlockRounds {
 public:
  Pairwise(Rank ranks, double bytes) : BlockRounds(ranks, BlockSizes(ranks, bytes / ranks)) {}

  std::int64_t count() const override { return ranks() - 1; }
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank to = wrap(rank + round + 1);
    out.push_back({to, to, 1, true});
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    out.push_back({wrap(rank - round - 1), rank, 1, true});
  }
  double busiest_bytes(std::int64_t) const override { return sizes().largest(); }
};

}  // namespace

std::unique_ptr<BlockRounds> pairwise_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<Pairwise>(layout.ranks(), request.bytes.front());
}

}  // namespace dadsim::collectives
