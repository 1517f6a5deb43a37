// NVLS (NVLink SHARP, NCCL 2.17): all-reduce inside a node whose switch sums and multicasts. Every GPU gives its vector
// to the switch once, and receives the sum once. Each GPU handles 1/N of the vector: it fetches the sum of this part
// from the switch, and has the switch multicast it. A port carries b·(1 + 1/N) in each direction.
//
// Messages here go from rank to rank, so the port's bytes are represented by messages between all pairs. A segment is
// summed in one round and copied in another; in each, every one of a rank's N − 1 messages has 1/(2(N − 1)) of the
// port's bytes.
//
// NCCL works in four stages (src/device/all_reduce.h): copy in, sum, multicast, copy out. Segments follow each other
// one stage apart. NVLS has only the protocol Simple: bytes, then a flag that reports their arrival. A stage is
// therefore a round of bytes and a round of flags; copying in and out sends flags only.
#include "collectives/nvls.hpp"

#include <utility>

#include "collectives/layouts.hpp"
#include "collectives/nccl_facts.hpp"
#include "collectives/segments.hpp"

namespace dadsim::collectives {
namespace {

constexpr std::int64_t kStages = 4;
/// Seconds per step over NVLink by which Simple exceeds LL, from NCCL's tuner (hwLat).
constexpr double kSimpleLatency = 3.4e-6 - 0.6e-6;

class Nvls final : public BlockRounds {
 public:
  /// Block s·N + r is the part of segment s that rank r sums.
  Nvls(Rank ranks, double bytes, std::int64_t segments)
      : BlockRounds(ranks, BlockSizes(segments * ranks, bytes / static_cast<double>(segments * ranks))),
        segments_(segments),
        of_port_(bytes / static_cast<double>(segments) * (ranks + 1) / ranks / nvls_efficiency()) {}

  std::int64_t count() const override {
    // Two rounds (bytes, flags) per stage with bytes, and a round of flags before the first and after the last.
    return 2 * (segments_ + 1) + 2;
  }

  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank to = wrap(rank + step);
      add(to, to, rank, round, out);
    }
  }

  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) {
      const Rank from = wrap(rank - step);
      add(from, rank, from, round, out);
    }
  }

  double run_bytes(std::int64_t, std::int64_t blocks) const override {
    return static_cast<double>(blocks) * of_port_ / (2.0 * (ranks() - 1));
  }

  /// A rank sends as many bytes as it receives.
  double busiest_bytes(std::int64_t round) const override {
    if (is_of_flags(round)) return 0;
    return ((adds_up(stage_of(round)) ? 1 : 0) + (copies(stage_of(round)) ? 1 : 0)) * of_port_ / 2;
  }

 private:
  bool is_of_flags(std::int64_t round) const { return round % 2 == 0 || round == count() - 1; }
  static std::int64_t stage_of(std::int64_t round) { return (round + 1) / 2; }
  bool adds_up(std::int64_t stage) const { return stage >= 1 && stage <= segments_; }
  bool copies(std::int64_t stage) const { return stage >= 2 && stage <= segments_ + 1; }

  void add(Rank peer, Rank receiver, Rank sender, std::int64_t round, std::vector<BlockParcel>& out) const {
    const std::int64_t stage = stage_of(round);
    if (is_of_flags(round)) {
      out.push_back({peer, 0, 0, false});
      return;
    }
    if (adds_up(stage)) out.push_back({peer, (stage - 1) * ranks() + receiver, 1, true});
    if (copies(stage)) out.push_back({peer, (stage - 2) * ranks() + sender, 1, false});
  }

  std::int64_t segments_;
  double of_port_;  ///< bytes per segment that a port carries in each direction, divided by nvls_efficiency()
};

/// All-gather and reduce-scatter (NCCL 2.20). A rank gives its block to the switch, which multicasts it; or a rank
/// fetches its block from the switch, which sums it over all ranks. In both, a port's busy direction carries the N − 1
/// blocks of the other ranks. Flags precede and follow the bytes.
class NvlsOneWay final : public BlockRounds {
 public:
  NvlsOneWay(Rank ranks, BlockSizes sizes, bool reduces) : BlockRounds(ranks, std::move(sizes)), reduces_(reduces) {}

  std::int64_t count() const override { return 3; }
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) add(wrap(rank + step), rank, wrap(rank + step), round, out);
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    for (Rank step = 1; step < ranks(); ++step) add(wrap(rank - step), wrap(rank - step), rank, round, out);
  }

 private:
  void add(Rank peer, Rank sender, Rank receiver, std::int64_t round, std::vector<BlockParcel>& out) const {
    if (round == 1) {
      out.push_back({peer, reduces_ ? receiver : sender, 1, reduces_, 1 / nvls_efficiency()});
    } else {
      out.push_back({peer, sender, 0, false});
    }
  }

  bool reduces_;
};

}  // namespace

double nvls_efficiency() { return nccl::generation_of(spec::GpuGeneration::hopper).nvls_efficiency; }

std::int64_t nvls_segments(double bytes, double segment_bytes, const RankLayout& layout) {
  // Chooses the segments for Simple, the only protocol of NVLS; layout.inside describes the fastest protocol instead.
  RankLayout::Channel simple = layout.inside;
  simple.latency += kSimpleLatency;
  return segment_count(bytes, segment_bytes, kStages - 1, simple);
}

std::unique_ptr<BlockRounds> nvls_all_reduce(const CollectiveRequest& request, const RankLayout& layout) {
  const double bytes = request.bytes.front();
  return std::make_unique<Nvls>(layout.ranks(), bytes, nvls_segments(bytes, request.segment_bytes, layout));
}

std::unique_ptr<BlockRounds> nvls_reduce_scatter(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  return std::make_unique<NvlsOneWay>(n, BlockSizes(n, request.bytes.front() / n), true);
}

std::unique_ptr<BlockRounds> nvls_all_gather(const CollectiveRequest& request, const RankLayout& layout) {
  return std::make_unique<NvlsOneWay>(layout.ranks(), one_block_per_rank(request, layout.ranks()), false);
}

}  // namespace dadsim::collectives
