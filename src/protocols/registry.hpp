#pragma once

#include "protocols/protocol.hpp"
#include "support/registry.hpp"

namespace dadsim::protocols {

/// Every event-driven algorithm, in the order of presentation.
Registry<ProtocolInfo>& protocol_registry();

}  // namespace dadsim::protocols
