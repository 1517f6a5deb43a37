#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// Something that may be wrong with a training job or its cluster, as a change of what is simulated.
struct Suspect {
  std::string cause;        ///< of report/words/diagnoses.cpp
  bool of_network = false;  ///< it changes collectives by themselves, too
  double repeats = 1;       ///< steps of the changed scenario that are one of the scenario's
  double rate = 0;          ///< byte/s that it leaves of an adapter; 0: it has no degrees
  bool alone = false;       ///< a degree that collectives by themselves tell from others, and a step does not
  std::function<void(scenario::Scenario&, sim::Cluster&)> change;
};

/// What may be wrong with this one: what it has already, or has nothing of, is left out. Of platforms alone that are a
/// <gpu-cluster>, causes of the network, those of RDMA, sockets and PCIe where the devices' library is NCCL or RCCL:
///   - TCP instead of RDMA: the adapters have the same rate, and the library its sockets;
///   - a network of 10 Gbit/s: one such adapter;
///   - one adapter, or half of them;
///   - messages through the processor: what goes between a GPU and its adapter crosses the same PCIe link twice, so
///     that an adapter has half of what 16 lanes of the GPU's generation carry (NVIDIA/nccl, issue 412: 16 GB/s over an
///     adapter of HDR at PCIe 4); less where half or all of a node's GPUs share 16 lanes to the processor, behind a
///     switch; least where the processor passes peer-to-peer reads on (issue 908: 2.4 GB/s). A suspect each, those
///     below half of collectives by themselves alone;
///   - PCIe instead of NVLink: a bridge of 16 lanes that all share.
/// With experts: those launched one by one, loads that differ, groups that reach over nodes, and rows that go as they
/// would without what the scenario says.
std::vector<Suspect> suspects_of(const scenario::Scenario& scenario);

}  // namespace dadsim::study
