#pragma once

#include <string>
#include <vector>

#include "protocols/protocol.hpp"
#include "support/registry.hpp"

namespace dadsim::protocols {

/// Returns all event-driven algorithms, in the order of presentation.
Registry<EventDrivenMethod>& protocol_registry();

/// Returns all methods, the synchronous ones first.
std::vector<const MethodInfo*> all_methods();
/// Returns a method from either registry; null if no method has that name.
const MethodInfo* find_method(const std::string& name);

}  // namespace dadsim::protocols
