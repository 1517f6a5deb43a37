// Gather to the root and broadcast from the root, in torch.distributed over gloo (github.com/facebookincubator/gloo,
// gather.cc and broadcast.cc). The root posts all its receives, which sends a ready message to every rank; then all
// ranks send. The sum travels down a tree. Places count from the root. A place receives from the place with its highest
// bit cleared. It then sends to the places with one higher bit set, lowest bit first, without waiting between sends.
//
// gloo's broadcast also sends after a ready message from the receiver. A rank sends it right after its vector, long
// before its parent has anything to send, so no extra round is needed.
#include <bit>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {
namespace {

class GlooParameterServer final : public BlockRounds {
 public:
  GlooParameterServer(const CollectiveRequest& request, Rank ranks)
      : BlockRounds(ranks, BlockSizes(1, request.bytes.front())), root_(request.root) {}

  /// A place receives the sum in the round given by the number of its set bits; places below N have at most ⌊log₂ N⌋.
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

  /// Among places with k set bits, 2^k − 1 has the most children, because its set bits are the lowest.
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

  /// Appends the messages between `place` and the root in `round`; if `place` is the root, those with all other places.
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
