// What NCCL has, and which of it its tuner takes: NVIDIA/nccl 2.28 to 2.30.7, src/graph/tuning.cc (constants and
// formulas), src/graph/search.cc (speeds of channels), src/enqueue.cc (what exists for an operation).
//
// The tuner gives every algorithm with every protocol that is on a time, latency + bytes / bandwidth, and the least is
// taken, once for the whole operation. Its numbers decide here what is carried out; how long that takes is simulated.
// So dadsim takes what people get, also where another algorithm would be quicker.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "collectives/blocks.hpp"
#include "collectives/libraries.hpp"

namespace dadsim::collectives {
namespace {

enum class Algorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };

/// Microseconds with LL, LL128 and Simple. Algorithms that have Simple alone have its number thrice.
using Latencies = std::array<double, 3>;
constexpr Latencies simple_alone(double microseconds) { return {microseconds, microseconds, microseconds}; }

struct AlgorithmRow {
  Algorithm algorithm;
  const char* name;     ///< under which dadsim lays it out
  const char* setting;  ///< what NCCL_ALGO calls it
  Latencies base;       ///< baseLat
  // hwLat, of a step: inside a node over NVLink and over PCIe, and between nodes.
  Latencies over_nvlink, over_pcie, between;
};

constexpr std::array<AlgorithmRow, 7> kAlgorithms = {{
    {Algorithm::tree, "tree", "Tree", {6.8, 14, 8.4}, {0.6, 1.25, 4}, {1, 1.9, 4}, {5, 8.5, 14}},
    {Algorithm::ring, "ring", "Ring", {6.6, 14, 8.4}, {0.6, 1.9, 3.4}, {1, 2.5, 5.7}, {2.7, 4, 14}},
    {Algorithm::collnet_direct, "sharp", "CollnetDirect", {}, simple_alone(3.7), simple_alone(3.7), simple_alone(31)},
    {Algorithm::collnet_chain, "sharp", "CollnetChain", {}, simple_alone(2.8), simple_alone(2.8), simple_alone(30)},
    {Algorithm::nvls, "nvls", "NVLS", {}, simple_alone(25), simple_alone(25), simple_alone(18)},
    {Algorithm::nvls_tree, "nvls-tree", "NVLSTree", {}, simple_alone(25), simple_alone(25), simple_alone(20.9)},
    {Algorithm::pat, "pat", "PAT", simple_alone(8), simple_alone(4), simple_alone(4), simple_alone(14)},
}};

const AlgorithmRow& row_of(Algorithm algorithm) {
  return *std::ranges::find(kAlgorithms, algorithm, &AlgorithmRow::algorithm);
}

constexpr std::array kProtocols = {Protocol::ll, Protocol::ll128, Protocol::simple};
std::size_t index_of(Protocol protocol) { return static_cast<std::size_t>(protocol) - 1; }

/// GB/s on one node, on two, on more.
using ByNodes = std::array<double, 3>;

/// What NCCL takes of a generation of GPUs, and of the servers they come in.
struct Generation {
  ByNodes tree, ring_ll128, tree_ll128, nvls_tree;  ///< at most, per channel (perChMax…)
  double ll = 0;                                    ///< at most on one node, of all channels (llMaxBws)
  double nvls_efficiency = 0;
  double nvls_channels = 16;  ///< on one node
  double channel = 20;        ///< GB/s of a channel inside a node
  bool amd_cpu = false;       ///< of NVIDIA's own server: DGX A100 has AMD's, the others Intel's
  double plateau = 1.4;       ///< of ring all-reduces with Simple between nodes ("plateau effect of ring")
};

const Generation& generation_of(spec::GpuGeneration generation) {
  static const Generation volta{.tree = {26.5, 18.5, 10},
                                .ring_ll128 = {20, 20, 20},
                                .tree_ll128 = {20, 20, 20},
                                .nvls_tree = {},
                                .ll = 39,
                                .plateau = 1.9};
  static const Generation ampere{.tree = {24, 23.6, 17.8},
                                 .ring_ll128 = {20, 20, 20},
                                 .tree_ll128 = {20, 20, 20},
                                 .nvls_tree = {},
                                 .ll = 87.7,
                                 .amd_cpu = true};
  static const Generation hopper{.tree = {38.7, 41.4, 36},
                                 .ring_ll128 = {36.7, 36.7, 36.7},
                                 .tree_ll128 = {36.7, 36.7, 29},
                                 .nvls_tree = {0, 57.7, 45.5},
                                 .ll = 141,
                                 .nvls_efficiency = 0.85};
  static const Generation blackwell{.tree = {70, 42.8, 24},
                                    .ring_ll128 = {40, 40, 40},
                                    .tree_ll128 = {55.6, 31.67, 20},
                                    .nvls_tree = {0, 96, 80},
                                    .ll = 282,
                                    .nvls_efficiency = 0.74,
                                    .channel = 40};
  switch (generation) {
    case spec::GpuGeneration::volta:
      return volta;
    case spec::GpuGeneration::ampere:
      return ampere;
    case spec::GpuGeneration::hopper:
      return hopper;
    case spec::GpuGeneration::blackwell:
      return blackwell;
  }
  throw std::logic_error("unknown generation");
}

/// llMaxBws between nodes: by the servers' CPU.
constexpr ByNodes kLlIntel = {39, 39, 20.4};
constexpr ByNodes kLlAmd = {87.7, 22.5, 19};

/// GB/s of a channel through one adapter: the largest of NCCL's list (speedArrayInter; sm90SpeedArrayInter from Hopper
/// on) that is not above the adapter's rate. 48 is in both lists, but next to an adapter of 400 Gbit/s on PCIe 5.0 the
/// search settles at 45.
double channel_speed(double bytes_per_second, spec::GpuGeneration generation) {
  constexpr std::array kBefore = {30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                                  7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
  constexpr std::array kHopper = {96.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                  15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
  const auto first = [&](const auto& speeds) {
    const auto found = std::ranges::find_if(speeds, [&](double speed) { return speed <= bytes_per_second / 1e9; });
    return found == speeds.end() ? speeds.back() : *found;
  };
  return generation >= spec::GpuGeneration::hopper ? first(kHopper) : first(kBefore);
}

/// A channel of at least this is split into two (ncclTopoDupChannels), GB/s.
constexpr double kSplit = 24;

class Tuner {
 public:
  explicit Tuner(const RankLayout& layout)
      : n_(layout.ranks()),
        nodes_(layout.nodes()),
        per_node_(n_ / nodes_),
        generation_(generation_of(layout.generation)),
        nvlink_(layout.nvlink_inside || per_node_ == 1),
        ll128_(nvlink_ && (nodes_ == 1 || layout.between.ll128_latency > 0)),
        inside_(layout.inside.bandwidth * (layout.meshed_nodes ? per_node_ - 1 : 1) / 1e9) {
    if (nodes_ == 1) {
      ring_.channels = std::max(1.0, std::round(inside_ / generation_.channel));
      ring_.bandwidth = inside_ / ring_.channels;
      return;
    }
    const double speed = channel_speed(layout.adapter_bandwidth, layout.generation);
    rails_ = std::max<Rank>(1, layout.rails);
    ring_.channels = static_cast<double>(rails_) * (speed >= kSplit ? 2 : 1);
    ring_.bandwidth = speed / (speed >= kSplit ? 2 : 1);
    if (per_node_ > 1) ring_.bandwidth = std::min(ring_.bandwidth, inside_ / ring_.channels);
  }

  bool has_ll128() const { return ll128_; }
  /// Between nodes NVLS has a channel for each adapter, and needs two.
  bool has_nvls_channels() const { return nodes_ == 1 || rails_ >= 2; }

  /// Microseconds. `bytes`: of all ranks together, as the tuner counts.
  double time(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol, double bytes) const {
    double latency = latency_of(kind, algorithm, protocol);
    double bandwidth = bandwidth_of(kind, algorithm, protocol);
    if (algorithm == Algorithm::tree) bandwidth *= tree_factor(protocol, bytes);
    constexpr double kPlateauFrom = 64;  // bytes per channel and rank
    if (kind == step::CollectiveKind::all_reduce && algorithm == Algorithm::ring && protocol == Protocol::simple &&
        nodes_ > 1 && bytes / (ring_.channels * n_) >= kPlateauFrom) {
      latency *= generation_.plateau;
    }
    return latency + bytes / (1000 * bandwidth);
  }

 private:
  struct Channels {
    double channels = 1;
    double bandwidth = 0;  ///< GB/s of each
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

  /// A tree uses an adapter in one direction at a time: between two nodes the search finds it twice the bandwidth, as
  /// far as the GPUs' own links go.
  double one_way_total() const {
    return nodes_ == 2 && per_node_ > 1 ? std::min(2 * ring_.total(), inside_) : ring_.total();
  }

  /// GB/s of the operation's bytes.
  double bandwidth_of(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
    const bool all_reduce = kind == step::CollectiveKind::all_reduce;
    const std::size_t m = by_nodes();
    const double ll_most = nodes_ == 1 ? generation_.ll : (generation_.amd_cpu ? kLlAmd : kLlIntel).at(m);
    const double to_ring = n_ / steps(kind);
    switch (algorithm) {
      case Algorithm::ring: {
        double bus = ring_.total();
        if (protocol == Protocol::ll) bus = std::min(ll_most, bus * 0.5);
        if (protocol == Protocol::ll128) bus = std::min(bus * 0.92, ring_.channels * generation_.ring_ll128.at(m));
        return bus * to_ring;
      }
      case Algorithm::tree: {
        double bus = std::min(one_way_total() * 0.92, ring_.channels * generation_.tree.at(m));
        if (protocol == Protocol::ll) bus = std::min(bus / 3.8, ll_most);
        if (protocol == Protocol::ll128) {
          bus = std::min(bus * (nodes_ == 1 ? 7.0 / 9 : 120.0 / 128), ring_.channels * generation_.tree_ll128.at(m));
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
        return collnet_total() / factor * (generation_.nvls_efficiency > 0 ? 0.85 : 1) / 2;
      }
      case Algorithm::collnet_chain:
        return collnet_total() / 2;
      case Algorithm::pat:
        return ring_.total() * 0.75;
    }
    throw std::logic_error("unknown algorithm");
  }

  /// A vector crosses an adapter once each way, as in a tree of two nodes.
  double collnet_total() const { return per_node_ > 1 ? std::min(2 * ring_.total(), inside_) : ring_.total(); }

  double latency_of(step::CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
    const std::size_t p = index_of(protocol);
    const AlgorithmRow& row = row_of(algorithm);
    const double base = row.base.at(p);
    double inside = (nvlink_ ? row.over_nvlink : row.over_pcie).at(p);
    const double between = row_of(per_node_ == 1 ? Algorithm::tree : algorithm).between.at(p);
    const double levels = std::floor(std::log2(nodes_));
    switch (algorithm) {
      case Algorithm::ring: {
        const bool pipeline = kind == step::CollectiveKind::broadcast || kind == step::CollectiveKind::reduce;
        if (pipeline) return base + (nodes_ == 1 ? inside : row.between.at(p));
        const double across = nodes_ == 1 ? 0 : (kind == step::CollectiveKind::all_reduce ? 2 : 1) * (nodes_ - 1.0);
        if (nodes_ > 1) {
          const double post = (generation_.amd_cpu ? 2 : 1) * (protocol == Protocol::simple ? 3 : 1);
          inside = std::max(inside, post);
        }
        return base + (steps(kind) - across) * inside + across * between;
      }
      case Algorithm::tree:
        return base + 2 * ((per_node_ - 1) * inside + levels * between);
      case Algorithm::collnet_direct:
        return base + 2 * (std::min<Rank>(1, per_node_ - 1) * inside + (per_node_ - 1) * 0.4) + between;
      case Algorithm::collnet_chain:
        return base + 2 * (per_node_ - 1) * inside + between;
      case Algorithm::nvls:
        return inside + (nodes_ > 1 ? between : 0);
      case Algorithm::nvls_tree:
        return base + inside + 2 * levels * between;
      case Algorithm::pat:
        return base + levels * between / 3.5 + n_ * 2.8;
    }
    throw std::logic_error("unknown algorithm");
  }

  /// treeCorrectionFactor: of 64 bytes, 128 bytes, …
  static double tree_factor(Protocol protocol, double bytes) {
    const double share = tree_share_of_bandwidth(protocol, bytes);
    return share > 0 ? share : 1;
  }

  Rank n_, nodes_, per_node_;
  const Generation& generation_;
  bool nvlink_, ll128_;
  double inside_;  ///< GB/s of a GPU's links inside its node
  Rank rails_ = 1;
  Channels ring_;
};

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
    // NVLS in a node is laid out with flags of its own (nvls.cpp).
    const Protocol laid_out = algorithm == Algorithm::nvls ? Protocol::by_message : protocol;
    choices.push_back({row_of(algorithm).name, laid_out, 1e-6 * tuner.time(kind, algorithm, protocol, bytes),
                       std::string("NCCL_ALGO=") + row_of(algorithm).setting + " NCCL_PROTO=" + to_string(protocol)});
  };
  const auto add_all = [&](Algorithm algorithm) {
    for (const Protocol protocol : kProtocols) {
      if (protocol != Protocol::ll128 || tuner.has_ll128()) add(algorithm, protocol);
    }
  };
  // NCCL sets NVLS up for more than two GPUs of a node (src/transport/nvls.cc).
  const bool nvls = layout.switch_adds_up && tuner.has_nvls_channels() && layout.ranks_per_node() > 2;
  const bool has_nodes = layout.is_hierarchical() || (layout.is_one_rank_per_node() && !one_node);
  if (kind == CollectiveKind::all_reduce) {
    // On one node the tree is a chain, which is behind the ring at any size.
    if (has_nodes) add_all(Algorithm::tree);
    if (layout.fabric_adds_up && has_nodes) {
      if (layout.is_hierarchical()) add(Algorithm::collnet_direct, Protocol::simple);
      add(Algorithm::collnet_chain, Protocol::simple);
    }
    if (nvls && one_node) add(Algorithm::nvls, Protocol::simple);
    if (nvls && layout.is_hierarchical()) add(Algorithm::nvls_tree, Protocol::simple);
  } else if (kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_gather) {
    if (nvls && one_node && request.bytes.size() == 1) add(Algorithm::nvls, Protocol::simple);
    if (layout.is_one_rank_per_node() && !one_node) add(Algorithm::pat, Protocol::simple);
  }
  add_all(Algorithm::ring);
  return choices;
}

}  // namespace dadsim::collectives
