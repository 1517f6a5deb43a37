#pragma once

#include <cstdint>

#include "spec/parameter.hpp"

namespace dadsim::spec {

/// Parameter of methods whose participants do whole training steps: the number of participants (islands), each a group
/// of replicas.
inline constexpr IntegerParameter kIslands{
    "islands", 0, 1e6, "0",
    "participants, each a group of workers that share gradients in every step; 0: each worker is one"};

/// Returns true if participants of the method may be groups of devices.
inline bool takes_islands(const ParameterValues& values) { return values.contains(kIslands.name); }
inline std::int64_t islands_of(const ParameterValues& values) {
  return takes_islands(values) ? kIslands.of(values) : 0;
}

inline bool sends_to(const ParameterValues& values, const char* whom) {
  const auto to = values.find("to");
  return to != values.end() && to->second == whom;
}
/// Returns true if the collective library sums the messages of an event-driven run among its participants.
inline bool sums_among_peers(const ParameterValues& values) {
  return sends_to(values, "peers") || sends_to(values, "region");
}

}  // namespace dadsim::spec
