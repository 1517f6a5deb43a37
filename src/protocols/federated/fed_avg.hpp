#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

EventDrivenMethod fed_avg_method();

}  // namespace dadsim::protocols
