// Collectives that MPI libraries compose of two others (Thakur, Rabenseifner, Gropp 2005), on the same N blocks: a
// broadcast of a scatter and an all-gather, a reduce of a reduce-scatter and a gather.
#include <utility>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class InTwoSteps final : public BlockRounds {
 public:
  InTwoSteps(std::unique_ptr<BlockRounds> first, std::unique_ptr<BlockRounds> then)
      : BlockRounds(first->ranks(), BlockSizes(first->blocks(), first->run_bytes(0, 1))),
        first_(std::move(first)),
        then_(std::move(then)) {}

  std::int64_t count() const override { return first_->count() + then_->count(); }
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    round < first_->count() ? first_->sent(rank, round, out) : then_->sent(rank, round - first_->count(), out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    round < first_->count() ? first_->received(rank, round, out) : then_->received(rank, round - first_->count(), out);
  }
  std::vector<RoundPhase> phases() const override {
    std::vector<RoundPhase> all = first_->phases();
    for (RoundPhase phase : then_->phases()) {
      phase.first += first_->count();
      // Ranks reach the second step at different times, so its rounds are not uniform.
      phase.uniform = phase.uniform && phase.rounds == 1;
      all.push_back(phase);
    }
    return all;
  }
  double busiest_bytes(std::int64_t round) const override {
    return round < first_->count() ? first_->busiest_bytes(round) : then_->busiest_bytes(round - first_->count());
  }

 private:
  std::unique_ptr<BlockRounds> first_, then_;
};

/// Returns the request of a step with one block per rank.
CollectiveRequest of_blocks(CollectiveRequest request, step::CollectiveKind kind, Rank ranks) {
  request.kind = kind;
  request.bytes = {request.bytes.front() / ranks};
  return request;
}

std::unique_ptr<BlockRounds> scatter_then(Layout* gather, const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<InTwoSteps>(binomial_scatter(of_blocks(request, step::CollectiveKind::scatter, n), layout),
                                      gather(of_blocks(request, step::CollectiveKind::all_gather, n), layout));
}

}  // namespace

std::unique_ptr<BlockRounds> scatter_doubling_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  return scatter_then(recursive_doubling_all_gather, request, layout);
}

std::unique_ptr<BlockRounds> scatter_ring_broadcast(const CollectiveRequest& request, const RankLayout& layout) {
  return scatter_then(one_ring_all_gather, request, layout);
}

std::unique_ptr<BlockRounds> halving_gather_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<InTwoSteps>(
      recursive_halving_reduce_scatter(request, layout),
      binomial_gather(of_blocks(request, step::CollectiveKind::gather, layout.ranks()), layout));
}

}  // namespace dadsim::collectives
