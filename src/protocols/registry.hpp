#pragma once

#include <string>
#include <vector>

#include "protocols/protocol.hpp"
#include "support/registry.hpp"

namespace dadsim::protocols {

/// Every event-driven algorithm, in the order of presentation.
Registry<EventDrivenMethod>& protocol_registry();

/// Every method, the synchronous ones first.
std::vector<const MethodInfo*> all_methods();
/// Finds a method in either registry; null if there is none of that name.
const MethodInfo* find_method(const std::string& name);

}  // namespace dadsim::protocols
