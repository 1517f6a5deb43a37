#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "methods/method.hpp"
#include "step/participation.hpp"
#include "world/history.hpp"

namespace dadsim::protocols {

/// What a protocol says of itself while it simulates: for the answer, and for nothing that it decides.
struct ProtocolLog : step::Participation {
  /// A model that is evaluated, and when it became available.
  struct Version {
    double at = 0;             ///< seconds
    std::int64_t updates = 0;  ///< rounds, or updates of the model, until then
    double samples = 0;        ///< trained with until then, worth something or not
    double bytes = 0;          ///< sent by all nodes until then
    world::Value quality;      ///< scalars loss, accuracy, auc
  };
  std::vector<Version> versions;
  world::Value last;                                  ///< weights of the last of them
  std::vector<std::string> remarks;                   ///< what a result must say of the run
  std::optional<methods::PrivacySpent> privacy = {};  ///< none: it adds no noise
};

}  // namespace dadsim::protocols
