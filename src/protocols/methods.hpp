#pragma once

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
EventDrivenMethod local_sgd_method();
EventDrivenMethod diloco_method();
EventDrivenMethod streaming_diloco_method();
EventDrivenMethod no_loco_method();
EventDrivenMethod gasloc_method();
EventDrivenMethod factored_gossip_method();
EventDrivenMethod sparse_loco_method();
EventDrivenMethod sparta_method();
EventDrivenMethod des_loc_method();
EventDrivenMethod pier_method();
EventDrivenMethod muloco_method();
EventDrivenMethod heloco_method();
EventDrivenMethod decoupled_diloco_method();
EventDrivenMethod dilocox_method();
EventDrivenMethod async_sgd_method();
EventDrivenMethod ad_psgd_method();
EventDrivenMethod flare_method();

}  // namespace dadsim::protocols
