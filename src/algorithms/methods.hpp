#pragma once

#include "algorithms/algorithm.hpp"

// One function per method, in the order of the registry; each is defined in its method's file.

namespace dadsim::algorithms {

SynchronousMethod pooled_method();
SynchronousMethod no_sharing_method();
SynchronousMethod gradient_sharing_method();
SynchronousMethod dad_method();
SynchronousMethod sfb_method();
SynchronousMethod edad_method();
SynchronousMethod rank_dad_method();
SynchronousMethod power_sgd_method();
SynchronousMethod acp_sgd_method();
SynchronousMethod dion_method();
SynchronousMethod top_k_method();
SynchronousMethod ef21_method();
SynchronousMethod sign_sgd_method();
SynchronousMethod one_bit_adam_method();
SynchronousMethod demo_method();
SynchronousMethod flexible_method();
SynchronousMethod d_psgd_method();
SynchronousMethod d2_method();
SynchronousMethod gradient_tracking_method();
SynchronousMethod choco_method();
SynchronousMethod power_gossip_method();
SynchronousMethod sgp_method();
SynchronousMethod sparse_push_method();
SynchronousMethod dp_sgd_method();
SynchronousMethod rgp_method();
SynchronousMethod lsg_method();
SynchronousMethod forward_gradient_method();
SynchronousMethod cogd_method();

}  // namespace dadsim::algorithms
