// Gather to the root and broadcast from the root of torch.distributed over gloo (github.com/facebookincubator/gloo,
// gather.cc and broadcast.cc). The root posts all its receives, which tells every rank that it is ready, and all send.
// The sum travels down a tree. Places count from the root. A place receives from the place with its highest bit
// cleared, then sends to the places with one higher bit set, lowest bit first, without waiting for one send before the
// next.
//
// gloo's broadcast too sends after the receiver has said that it is ready. A rank says so right after its vector, over
// the same line, long before its parent has anything to send: no extra round.
#include <bit>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class GlooParameterServer final : public BlockRounds {
 public:
  GlooParameterServer(const CollectiveRequest& request, Rank ranks)
      : BlockRounds(ranks, BlockSizes(1, request.bytes.front())), root_(request.root) {}

  /// The sum reaches a place in as many rounds as it has set bits; a place below N has at most ⌊log₂ N⌋ of them.
  std::int64_t count() const override { return kGather + std::bit_width(static_cast<std::uint32_t>(ranks())) - 1; }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank place = wrap(rank - root_);
    if (round < kGather) {
      add_gather(place, place == 0 ? 0 : 1, round, out);
      return;
    }
    if (depth(place) != round - kGather) return;
    // Iterates over the bits above the highest set bit of the place.
    for (std::int64_t bit = std::bit_ceil(static_cast<std::uint64_t>(place) + 1); place + bit < ranks(); bit *= 2) {
      out.push_back({wrap(place + bit + root_), 0, 1, false});
    }
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    const Rank place = wrap(rank - root_);
    if (round < kGather) {
      add_gather(place, place == 0 ? 1 : 0, round, out);
    } else if (depth(place) == round - kGather + 1) {
      out.push_back({wrap(place - power_of_two_within(place) + root_), 0, 1, false});
    }
  }

  /// Among places that send in a round, 2^k − 1 has the most children: its k set bits are the lowest ones.
  double busiest_bytes(std::int64_t round) const override {
    if (round == 0) return 0;
    if (round < kGather) return (ranks() - 1) * sizes().largest();
    const std::int64_t place = (std::int64_t{1} << (round - kGather)) - 1;
    double children = 0;
    for (std::int64_t bit = place + 1; place + bit < ranks(); bit *= 2) ++children;
    return children * sizes().largest();
  }

 private:
  static constexpr std::int64_t kGather = 2;  ///< two rounds: ready messages, then vectors

  static int depth(Rank place) { return std::popcount(static_cast<std::uint32_t>(place)); }

  /// Appends the messages between `place` and the root (for the root: all others) in round `round`.
  void add_gather(Rank place, std::int64_t of_round, std::int64_t round, std::vector<BlockParcel>& out) const {
    if (round != of_round) return;
    const std::int64_t blocks = round;  // a ready message has no bytes
    const bool reduce = round == 1;
    if (place != 0) {
      out.push_back({root_, 0, blocks, reduce});
      return;
    }
    for (Rank other = 1; other < ranks(); ++other) out.push_back({wrap(other + root_), 0, blocks, reduce});
  }

  Rank root_;
};

}  // namespace

std::unique_ptr<BlockRounds> gloo_parameter_server_all_reduce(const CollectiveRequest& request,
                                                              const RankLayout& layout) {
  return std::make_unique<GlooParameterServer>(request, layout.ranks());
}

}  // namespace dadsim::collectives
