#pragma once

#include "carry_out.hpp"

namespace dadsim::collectives {

inline constexpr double kKibi = 1024, kMebi = 1024 * kKibi, kGibi = 1024 * kMebi;

/// Nodes of GPUs with NCCL, NVLink of this `generation`, and adapters of `gigabits` Gbit/s.
struct GpuNodes {
  Rank nodes = 1, gpus = 8, rails = 1;
  double gigabits = 200;
  spec::GpuGeneration generation = spec::GpuGeneration::ampere;
  bool sockets = false;

  RankLayout layout() const {
    RankLayout layout = ranks_on_nodes(nodes * gpus, gpus);
    layout.library = spec::CollectiveLibrary::nccl;
    layout.generation = generation;
    layout.start_seconds = 6.6e-6;
    layout.rails = nodes > 1 ? rails : 0;
    layout.adapter_bandwidth = gigabits * 1e9 / 8;
    layout.over_sockets = sockets;
    layout.nvlink_inside = gpus > 1;
    layout.switch_adds_up = gpus > 1 && generation >= spec::GpuGeneration::hopper;
    // Payload rates of the catalogue's links, after the overhead of protocols.
    constexpr std::array kPorts = {120e9, 240e9, 369e9, 720e9};
    layout.inside = {1.6e-6, kPorts.at(static_cast<std::size_t>(generation)), 4.4e-6, 2.9e-6};
    layout.between = sockets ? RankLayout::Channel{152e-6, 0.95 * layout.adapter_bandwidth}
                             : RankLayout::Channel{3.9e-6, 0.96 * layout.adapter_bandwidth, 15.2e-6, 5.2e-6};
    if (gpus == 1) layout.inside = layout.between;
    if (nodes == 1) layout.between = layout.inside;
    return layout;
  }
};

/// Returns the choice of the library for `bytes` in total over all ranks.
inline CollectiveChoice taken_by_library(step::CollectiveKind kind, double bytes, const RankLayout& layout) {
  CollectiveRequest request = request_for(kind, layout.ranks(), false);
  request.bytes = {whole_vector(kind) ? bytes : bytes / layout.ranks()};
  const std::vector<CollectiveChoice> choices = library_choices(request, layout);
  return *std::ranges::min_element(choices, {}, &CollectiveChoice::seconds);
}

}  // namespace dadsim::collectives
