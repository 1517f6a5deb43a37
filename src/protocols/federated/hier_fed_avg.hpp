#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Hierarchical federated averaging (Liu et al., arXiv 1905.06641, algorithm 1): clients train, their group's leader
/// takes the mean (weighed by samples) and sends it to them again, κ₂ = `edge-rounds` times; then the server takes the
/// mean of the groups' models, weighed by the samples of those who took part. Groups are equally many workers in the
/// order of the scenario; the first of a group leads it and trains too.
///
/// A client that goes down is left out of its group's round, a group whose leader goes down of the server's.
EventDrivenMethod hier_fed_avg_method();

}  // namespace dadsim::protocols
