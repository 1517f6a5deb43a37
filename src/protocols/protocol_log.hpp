#pragma once

#include <cstdint>
#include <vector>

#include "step/participation.hpp"
#include "world/history.hpp"

namespace dadsim::protocols {

/// What a protocol says of itself while it simulates: for the answer, and for nothing that it decides.
struct ProtocolLog : step::Participation {
  /// A model that there was to be used from a time on, and is evaluated.
  struct Version {
    double at = 0;             ///< seconds
    std::int64_t updates = 0;  ///< rounds, or updates of the model, until then
    double samples = 0;        ///< trained with until then, worth something or not
    double bytes = 0;          ///< sent by all nodes until then
    world::Value quality;      ///< scalars loss, accuracy, auc
  };
  std::vector<Version> versions;
  world::Value last;  ///< weights of the last of them
};

}  // namespace dadsim::protocols
