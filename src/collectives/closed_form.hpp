#pragma once

#include <cstdint>
#include <functional>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// The α-β model of a collective, for a network whose only limit is one full-duplex link per rank. The time is the sum
/// over rounds of latency + (largest number of bytes that any rank sends or receives in the round) ÷ bandwidth (R.
/// Hockney, The communication challenge for MPP, Parallel Comput. 20 (1994), as used by Thakur, Rabenseifner and Gropp
/// 2005). Ready messages double the latency, and rounds in flight together share it. Seconds, byte/s. Assumes that all
/// ranks proceed in lockstep; includes the start of the operation.
double closed_form_seconds(const Rounds& rounds, double latency, double bandwidth);

/// Sums the rounds with a latency per round: `latency(round)`, seconds. For equal rounds calls `latency` once, with the
/// first round.
double closed_form_seconds(const Rounds& rounds, const std::function<double(std::int64_t)>& latency, double bandwidth);

}  // namespace dadsim::collectives
