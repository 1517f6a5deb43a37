#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

ProtocolInfo fed_avg_info();

}  // namespace dadsim::protocols
