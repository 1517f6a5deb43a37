#pragma once

#include <cstdint>
#include <functional>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// The α-β model of a collective on a network in which every rank has one full-duplex link and nothing else limits: the
/// sum over the rounds of latency + the most bytes that a rank sends or receives in the round ÷ bandwidth (R. Hockney,
/// The communication challenge for MPP, Parallel Comput. 20 (1994), as used by Thakur, Rabenseifner and Gropp 2005).
/// Seconds, byte/s. Rounds count as if all ranks went through them in step, after
/// the start of the operation.
double closed_form_seconds(const Rounds& rounds, double latency, double bandwidth);

/// Sums the rounds with a latency per round: `latency(round)`, seconds. Calls `latency` once for equal rounds, with the
/// number of the first.
double closed_form_seconds(const Rounds& rounds, const std::function<double(std::int64_t)>& latency, double bandwidth);

}  // namespace dadsim::collectives
