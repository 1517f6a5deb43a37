#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::spec {

/// The network as each of `how.experts` devices has it that divide the experts of a block (Lepikhin et al., GShard,
/// ICLR 2021, arXiv:2006.16668, section 3.1), of replicas in `replicas`: experts ÷ how.experts of them, whole, and the
/// rows that come to these from all, as many as each sends out. Where `how.tensor` devices divide a layer, each sends
/// out its part of the rows. Experts are whole then, or divided once more by the same devices (how.expert_tensor),
/// which hand their rows to devices in the same place and put together what comes to them. The device with most rows
/// has how.expert_imbalance times as many as the mean, or how.expert_capacity times where the rest is dropped (GShard,
/// section 2.2), and all wait for it. Everything else stays as it is. Throws std::invalid_argument, in words, where it
/// cannot be divided so.
ModelShape with_divided_experts(ModelShape model, const ParallelismSpec& how, std::size_t replicas);

/// Seconds of the host for the kernels of a block with experts, a pass forward and back, of which a device has so many:
/// where it launches them one by one (ExpertLaunch::counted; spec/expert_costs.csv).
double seconds_of_launches(std::int64_t experts);

/// Bytes that so many devices hand one another where a row goes once to each device that has some of its `per_token`
/// experts, drawn evenly, ÷ those of a plain exchange, in which it goes once for each of them; with what such an
/// exchange is slower by than a message over the same links (ExpertExchange::once; spec/expert_costs.csv).
double bytes_sent_once(std::int32_t devices, std::int64_t per_token);

}  // namespace dadsim::spec
