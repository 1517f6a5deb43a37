// Delays of NCCL's rings and trees over sockets, beyond their bytes. All rings of a node leave it through one GPU per
// adapter, whose proxy thread (src/proxy.cc) posts the messages of the channels one by one.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/nccl_facts.hpp"
#include "collectives/nccl_sockets.csv.hpp"
#include "collectives/request.hpp"
#include "support/fact_table.hpp"

namespace dadsim::collectives {
namespace {

struct SocketConstants {
  double channels, channels_hopper, post, post_hopper, post_ll, tree_hopper, simple_bytes, ll_bytes;
};

const SocketConstants& socket_constants() {
  static const auto kConstants =
      read_constants<SocketConstants>(tables::kNcclSockets, {{"channels", &SocketConstants::channels},
                                                             {"channels hopper", &SocketConstants::channels_hopper},
                                                             {"post", &SocketConstants::post},
                                                             {"post hopper", &SocketConstants::post_hopper},
                                                             {"post ll", &SocketConstants::post_ll},
                                                             {"tree hopper", &SocketConstants::tree_hopper},
                                                             {"simple bytes", &SocketConstants::simple_bytes},
                                                             {"ll bytes", &SocketConstants::ll_bytes}});
  return kConstants;
}

bool over_sockets(const RankLayout& layout) {
  return layout.over_sockets && layout.nodes() > 1 && layout.library == spec::CollectiveLibrary::nccl;
}

bool sums_or_gathers(step::CollectiveKind kind) {
  using enum step::CollectiveKind;
  return kind == all_reduce || kind == reduce_scatter || kind == all_gather;
}

}  // namespace

double beside_kernels_post_seconds(const CollectiveRequest& request, std::string_view algorithm,
                                   const RankLayout& layout) {
  const bool by_adapters =
      layout.library == spec::CollectiveLibrary::nccl && layout.nodes() > 1 && !layout.over_sockets;
  if (!request.beside_kernels || algorithm != "ring" || !sums_or_gathers(request.kind) || !by_adapters) return 0;
  // Rings that share an adapter share its time.
  const double turns = layout.rails > 0 ? std::max(1.0, static_cast<double>(ring_lanes(layout)) / layout.rails) : 1;
  const nccl::Constants& constants = nccl::constants();
  const bool ampere = layout.generation < spec::GpuGeneration::hopper;
  return 1e-6 * (ampere ? constants.post_beside_ampere : constants.post_beside) / turns;
}

double socket_start_seconds(std::string_view algorithm, const RankLayout& layout) {
  const bool tree = algorithm == "tree" || algorithm == "nvls-tree";
  if (!tree || !over_sockets(layout) || layout.generation < spec::GpuGeneration::hopper) return 0;
  return 1e-6 * 2 * std::ceil(std::log2(layout.nodes())) * socket_constants().tree_hopper;
}

double socket_post_seconds(const CollectiveRequest& request, std::string_view algorithm, Protocol protocol,
                           const RankLayout& layout) {
  if (algorithm != "ring" || !sums_or_gathers(request.kind) || !over_sockets(layout)) return 0;
  const SocketConstants& constants = socket_constants();
  const bool hopper = layout.generation >= spec::GpuGeneration::hopper;
  const double adapters = ring_lanes(layout);
  const double most = std::max(1.0, (hopper ? constants.channels_hopper : constants.channels) / adapters);
  const bool ll = protocol == Protocol::ll;
  const double each = ll ? constants.ll_bytes * layout.ranks() : constants.simple_bytes;
  const double channels = std::clamp(std::ceil(counted_bytes(request, layout.ranks()) / each / adapters), 1.0, most);
  return 1e-6 * channels * (hopper ? constants.post_hopper : constants.post) * (ll ? constants.post_ll : 1);
}

}  // namespace dadsim::collectives
