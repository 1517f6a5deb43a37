#pragma once

#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// The α-β model of a collective on a network in which every rank has one full-duplex link and nothing else limits: the
/// sum over the rounds of latency + the most bytes that a rank sends or receives in the round ÷ bandwidth (R. Hockney,
/// The communication challenge for MPP, Parallel Comput. 20 (1994), as used by Thakur, Rabenseifner and Gropp 2005).
/// Seconds, byte/s. Rounds count as if all ranks went through them in step, after
/// the start of the operation.
double closed_form_seconds(const Rounds& rounds, double latency, double bandwidth);

}  // namespace dadsim::collectives
