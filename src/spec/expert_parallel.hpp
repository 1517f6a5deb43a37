#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::spec {

/// Returns one device's part of a network whose blocks' experts are divided among `how.experts` devices of `replicas`
/// replicas (Lepikhin et al., GShard, ICLR 2021, arXiv:2006.16668, section 3.1).
///
/// Each device has experts ÷ how.experts whole experts, and receives as many rows as it sends out. With `how.tensor`
/// devices dividing a layer, each sends out its part of the rows. Experts are then whole, or divided once more by the
/// same devices (how.expert_tensor), which send rows to devices in the same position and put received rows together.
///
/// The device with most rows has how.expert_imbalance times the mean, or how.expert_capacity times if the excess is
/// dropped (GShard, section 2.2). All devices wait for it. Everything else is unchanged. Throws std::invalid_argument,
/// with a message for the user, if the network cannot be divided so.
ModelShape with_divided_experts(ModelShape model, const ParallelismSpec& how, std::size_t replicas);

/// Returns the numbers per sample that leave a layer of tables whose rows are read and added (DLRM); 0 for other
/// layers. With `how.experts` devices, all devices of a stage, each has a part of the tables' entries.
double pooled_per_sample(const LayerShape& layer);

/// Returns the host's seconds for the kernels, forward and back, of a block with `experts` experts on a device that
/// launches them one by one (ExpertLaunch::counted; spec/expert_costs.csv).
double seconds_of_launches(std::int64_t experts);

/// Returns the bytes exchanged among `devices` devices of `nodes` nodes if a row is sent once to each device with some
/// of its `per_token` experts, drawn evenly, ÷ the bytes if it is sent once per expert. Between nodes a row is sent
/// once to each node, and handed on inside. Includes the slowdown of such an exchange relative to a message over the
/// same links, those of adapters with several nodes (ExpertExchange::once; spec/expert_costs.csv).
double bytes_sent_once(std::int32_t devices, std::int32_t nodes, std::int64_t per_token);

}  // namespace dadsim::spec
