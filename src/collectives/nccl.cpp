// Algorithms of NCCL and the choice of its tuner: NVIDIA/nccl 2.28 to 2.30.7, src/graph/tuning.cc (formulas; the
// numbers are in nccl_*.csv), src/enqueue.cc (algorithms of each operation).
//
// The tuner estimates latency + bytes / bandwidth for every enabled algorithm and protocol, and takes the smallest
// estimate, once for the whole operation. The estimates serve only this choice, and the chosen algorithm is simulated.
// dadsim therefore runs the algorithm that NCCL runs, even if another one would be faster.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "collectives/blocks.hpp"
#include "collectives/libraries.hpp"
#include "collectives/nccl_facts.hpp"

namespace dadsim::collectives {
namespace {

using nccl::Algorithm;
using nccl::constants;

/// Returns dadsim's name of an algorithm.
const char* laid_out_as(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return "tree";
    case Algorithm::ring:
      return "ring";
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return "sharp";
    case Algorithm::nvls:
      return "nvls";
    case Algorithm::nvls_tree:
      return "nvls-tree";
    case Algorithm::pat:
      return "pat";
  }
  throw std::logic_error("unknown algorithm");
}

constexpr std::array kProtocols = {Protocol::ll, Protocol::ll128, Protocol::simple};
std::size_t index_of(Protocol protocol) { return static_cast<std::size_t>(protocol) - 1; }

/// Returns the GB/s of a channel through one adapter: the largest listed value up to the adapter's rate, or the
/// smallest one.
double channel_speed(double bytes_per_second, const nccl::Generation& generation) {
  const auto found =
      std::ranges::find_if(generation.speeds, [&](double speed) { return speed <= bytes_per_second / 1e9; });
  return found == generation.speeds.end() ? generation.speeds.back() : *found;
}

class Tuner {
 public:
  explicit Tuner(const RankLayout& layout)
      : n_(layout.ranks()),
        nodes_(layout.nodes()),
        per_node_(n_ / nodes_),
        generation_(nccl::generation_of(layout.generation)),
        nvlink_(layout.nvlink_inside || per_node_ == 1),
        ll128_(nvlink_ && (nodes_ == 1 || layout.between.ll128_latency > 0)),
        inside_(layout.inside.bandwidth * (layout.meshed_nodes ? per_node_ - 1 : 1) / 1e9) {
    if (nodes_ == 1) {
      ring_.channels = std::max(1.0, std::round(inside_ / generation_.channel));
      ring_.bandwidth = inside_ / ring_.channels;
      return;
    }
    const double speed = channel_speed(layout.adapter_bandwidth, generation_);
    const double split = constants().split;
    rails_ = std::max<Rank>(1, layout.rails);
    ring_.channels = static_cast<double>(rails_) * (speed >= split ? 2 : 1);
    ring_.bandwidth = speed / (speed >= split ? 2 : 1);
    if (per_node_ > 1) ring_.bandwidth = std::min(ring_.bandwidth, inside_ / ring_.channels);
  }

  bool has_ll128() const { return ll128_; }
  /// Returns whether NVLS has enough channels. Between nodes it has one per adapter, and needs two.
  bool has_nvls_channels() const { return nodes_ == 1 || rails_ >= 2; }

  /// Returns the tuner's estimate, microseconds. `bytes`: of all ranks together.
  double time(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol, double bytes) const {
    double latency = latency_of(kind, algorithm, protocol);
    double bandwidth = bandwidth_of(kind, algorithm, protocol);
    if (algorithm == Algorithm::tree) bandwidth *= tree_factor(protocol, bytes);
    if (kind == step::CollectiveKind::all_reduce && algorithm == Algorithm::ring && protocol == Protocol::simple &&
        nodes_ > 1 && bytes / (ring_.channels * n_) >= constants().plateau_from) {
      latency *= generation_.plateau;
    }
    return latency + bytes / (1000 * bandwidth);
  }

 private:
  struct Channels {
    double channels = 1;
    double bandwidth = 0;  ///< GB/s per channel
    double total() const { return channels * bandwidth; }
  };

  std::size_t by_nodes() const { return static_cast<std::size_t>(std::min<Rank>(nodes_, 3) - 1); }
  double steps(step::CollectiveKind kind) const {
    switch (kind) {
      case step::CollectiveKind::all_reduce:
        return 2.0 * (n_ - 1);
      case step::CollectiveKind::reduce_scatter:
      case step::CollectiveKind::all_gather:
        return n_ - 1;
      default:
        return n_;
    }
  }

  /// Returns GB/s for a tree, which uses an adapter in one direction at a time. Between two nodes NCCL's search finds
  /// twice the ring's bandwidth, limited by the GPUs' own links.
  double one_way_total() const {
    return nodes_ == 2 && per_node_ > 1 ? std::min(2 * ring_.total(), inside_) : ring_.total();
  }

  /// Returns GB/s, relative to the operation's bytes.
  double bandwidth_of(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
    const bool all_reduce = kind == step::CollectiveKind::all_reduce;
    const std::size_t m = by_nodes();
    const double ll_most = generation_.ll.at(m);
    const double to_ring = n_ / steps(kind);
    switch (algorithm) {
      case Algorithm::ring: {
        double bus = ring_.total();
        if (protocol == Protocol::ll) bus = std::min(ll_most, bus * constants().ring_ll);
        if (protocol == Protocol::ll128)
          bus = std::min(bus * constants().ring_ll128, ring_.channels * generation_.ring_ll128.at(m));
        return bus * to_ring;
      }
      case Algorithm::tree: {
        double bus = std::min(one_way_total() * constants().tree_simple, ring_.channels * generation_.tree.at(m));
        if (protocol == Protocol::ll) bus = std::min(bus / constants().tree_ll, ll_most);
        if (protocol == Protocol::ll128) {
          const double share = nodes_ == 1 ? constants().tree_ll128_one_node : constants().tree_ll128;
          bus = std::min(bus * share, ring_.channels * generation_.tree_ll128.at(m));
        }
        return bus / 2;
      }
      case Algorithm::nvls:
      case Algorithm::nvls_tree: {
        const double channels = nodes_ == 1 ? generation_.nvls_channels : rails_;
        double each = inside_ / channels * generation_.nvls_efficiency * (channels - 1) / channels;
        each *= all_reduce ? 2 : (per_node_ - 1.0) / per_node_;
        if (nodes_ > 1) each = std::min(each, ring_.total() / channels * (nodes_ == 2 ? 2 : 1));
        if (algorithm == Algorithm::nvls_tree) each = std::min(each, generation_.nvls_tree.at(m));
        return channels * each * (all_reduce ? to_ring : 1);
      }
      case Algorithm::collnet_direct: {
        double factor = per_node_ / ring_.channels;
        factor -= (factor - 1) / 2;
        return collnet_total() / factor * (generation_.nvls_efficiency > 0 ? constants().collnet_direct : 1) / 2;
      }
      case Algorithm::collnet_chain:
        return collnet_total() / 2;
      case Algorithm::pat:
        return ring_.total() * constants().pat;
    }
    throw std::logic_error("unknown algorithm");
  }

  /// A vector crosses an adapter once in each direction, as in a tree of two nodes.
  double collnet_total() const { return per_node_ > 1 ? std::min(2 * ring_.total(), inside_) : ring_.total(); }

  double latency_of(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
    const std::size_t p = index_of(protocol);
    const nccl::AlgorithmLatencies& own = nccl::latencies_of(algorithm);
    const double base = own.base.at(p);
    double inside = (nvlink_ ? own.over_nvlink : own.over_pcie).at(p);
    const double between = nccl::latencies_of(per_node_ == 1 ? Algorithm::tree : algorithm).between.at(p);
    const double levels = std::floor(std::log2(nodes_));
    switch (algorithm) {
      case Algorithm::ring: {
        const bool pipeline = kind == step::CollectiveKind::broadcast || kind == step::CollectiveKind::reduce;
        if (pipeline) return base + (nodes_ == 1 ? inside : own.between.at(p));
        const double across = nodes_ == 1 ? 0 : (kind == step::CollectiveKind::all_reduce ? 2 : 1) * (nodes_ - 1.0);
        if (nodes_ > 1) {
          const double post = constants().post * (generation_.amd_cpu ? constants().post_amd : 1) *
                              (protocol == Protocol::simple ? constants().post_simple : 1);
          inside = std::max(inside, post);
        }
        return base + (steps(kind) - across) * inside + across * between;
      }
      case Algorithm::tree:
        return base + 2 * ((per_node_ - 1) * inside + levels * between);
      case Algorithm::collnet_direct:
        return base + 2 * (std::min<Rank>(1, per_node_ - 1) * inside + (per_node_ - 1) * constants().collnet_gather) +
               between;
      case Algorithm::collnet_chain:
        return base + 2 * (per_node_ - 1) * inside + between;
      case Algorithm::nvls:
        return inside + (nodes_ > 1 ? between : 0);
      case Algorithm::nvls_tree:
        return base + inside + 2 * levels * between;
      case Algorithm::pat:
        return base + levels * between / constants().pat_levels + n_ * constants().pat_rank;
    }
    throw std::logic_error("unknown algorithm");
  }

  /// Returns treeCorrectionFactor, tabulated for 64 bytes, 128 bytes, …
  static double tree_factor(Protocol protocol, double bytes) {
    const double share = tree_share_of_bandwidth(protocol, bytes);
    return share > 0 ? share : 1;
  }

  Rank n_, nodes_, per_node_;
  const nccl::Generation& generation_;
  bool nvlink_, ll128_;
  double inside_;  ///< GB/s of a GPU's links inside its node
  Rank rails_ = 1;
  Channels ring_;
};

/// Largest number of GPUs of a host whose switches can sum, over all servers with Hopper and Blackwell. A rack of 72
/// GB200 is one NVLink domain of 18 hosts. Five published all-reduces of such a rack (coreweave/nccl-tests at cb865533,
/// README, NCCL 2.26.2) fit a line with 142 steps of 4 us and 0.95 of the links: a ring.
constexpr Rank kGpusOfHost = 8;

}  // namespace

std::vector<CollectiveChoice> nccl_choices(const CollectiveRequest& request, const RankLayout& layout) {
  using step::CollectiveKind;
  const CollectiveKind kind = request.kind;
  if (const char* at_once = messages_at_once(kind); at_once != nullptr) return {{at_once}};
  const Tuner tuner(layout);
  const double bytes = counted_bytes(request, layout.ranks());
  const bool one_node = layout.nodes() == 1;
  std::vector<CollectiveChoice> choices;
  const auto add = [&](Algorithm algorithm, Protocol protocol) {
    // Inside a node, NVLS has its own flag messages (nvls.cpp).
    const Protocol laid_out = algorithm == Algorithm::nvls ? Protocol::by_message : protocol;
    choices.push_back({laid_out_as(algorithm), laid_out, 1e-6 * tuner.time(kind, algorithm, protocol, bytes),
                       std::string("NCCL_ALGO=") + spec::to_string(algorithm) + " NCCL_PROTO=" + to_string(protocol)});
  };
  const auto add_all = [&](Algorithm algorithm) {
    for (const Protocol protocol : kProtocols) {
      if (protocol != Protocol::ll128 || tuner.has_ll128()) add(algorithm, protocol);
    }
  };
  // NCCL enables NVLS for more than two GPUs of a node (src/transport/nvls.cc).
  const bool nvls = layout.switch_adds_up && tuner.has_nvls_channels() && layout.ranks_per_node() > 2;
  const bool has_nodes = layout.is_hierarchical() || (layout.is_one_rank_per_node() && !one_node);
  if (kind == CollectiveKind::all_reduce) {
    // On one node the tree is a chain, slower than the ring at any size.
    if (has_nodes) add_all(Algorithm::tree);
    if (layout.fabric_adds_up && has_nodes) {
      if (layout.is_hierarchical()) add(Algorithm::collnet_direct, Protocol::simple);
      add(Algorithm::collnet_chain, Protocol::simple);
    }
    if (nvls && one_node && layout.ranks() <= kGpusOfHost) add(Algorithm::nvls, Protocol::simple);
    if (nvls && layout.is_hierarchical()) add(Algorithm::nvls_tree, Protocol::simple);
  } else if (kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_gather) {
    if (nvls && one_node && request.bytes.size() == 1) add(Algorithm::nvls, Protocol::simple);
    if (layout.is_one_rank_per_node() && !one_node) add(Algorithm::pat, Protocol::simple);
  }
  add_all(Algorithm::ring);
  return choices;
}

}  // namespace dadsim::collectives
