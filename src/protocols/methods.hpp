#pragma once

#include <vector>

#include "protocols/protocol.hpp"

// One function per method, in the order of the registry, each defined in the file of its method.

namespace dadsim::protocols {

EventDrivenMethod partial_gradient_sharing_method();
EventDrivenMethod partial_dad_method();
EventDrivenMethod partial_rank_dad_method();
EventDrivenMethod fed_avg_method();
EventDrivenMethod fed_prox_method();
EventDrivenMethod scaffold_method();
EventDrivenMethod fed_opt_method();
EventDrivenMethod hier_fed_avg_method();
EventDrivenMethod dp_fed_avg_method();
EventDrivenMethod fed_buff_method();
EventDrivenMethod fed_async_method();
/// Methods of the family of local steps, the streaming one among them.
std::vector<EventDrivenMethod> local_methods();
EventDrivenMethod async_sgd_method();
EventDrivenMethod ad_psgd_method();
EventDrivenMethod flare_method();

}  // namespace dadsim::protocols
