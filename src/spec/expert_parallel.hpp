#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::spec {

/// Returns one device's part of a network whose blocks' experts are divided among `how.experts` devices in `replicas`
/// replicas (Lepikhin et al., GShard, ICLR 2021, arXiv:2006.16668, section 3.1).
///
/// Each device has experts ÷ how.experts whole experts, and receives as many rows as it sends. If `how.tensor` devices
/// divide a layer, each sends its part of the rows. Experts are then whole, or also divided by these devices
/// (how.expert_tensor): each sends rows to devices in the same position, and received rows are combined.
///
/// The device with the most rows has how.expert_imbalance times the mean. If excess rows are dropped, it has at most
/// how.expert_capacity times the mean (GShard, section 2.2). All devices wait for it. Everything else is unchanged.
/// Throws std::invalid_argument, with a message for the user, if the network cannot be divided this way.
ModelShape with_divided_experts(ModelShape model, const ParallelismSpec& how, std::size_t replicas);

/// Returns the numbers per sample that leave a layer of embedding tables whose rows are read and added (DLRM); 0 for
/// other layers. with_divided_experts() divides the entries of such tables among all devices of a stage.
double pooled_per_sample(const LayerShape& layer);

/// Returns the seconds in which the host launches, one by one, the kernels of the forward and the backward pass
/// together, for a block with `experts` experts on a device (ExpertLaunch::counted; spec/expert_costs.csv).
double seconds_of_launches(std::int64_t experts);

/// Returns the bytes exchanged among `devices` devices of `nodes` nodes if a row is sent once per device
/// (ExpertExchange::once), ÷ the bytes if it is sent once per expert. A row uses `per_token` experts, drawn evenly.
/// Between nodes, a row is sent once per node and forwarded inside. Includes the measured slowdown of such an exchange
/// relative to a message over the same links: the adapters' if there are several nodes (spec/expert_costs.csv).
double bytes_sent_once(std::int32_t devices, std::int32_t nodes, std::int64_t per_token);

}  // namespace dadsim::spec
