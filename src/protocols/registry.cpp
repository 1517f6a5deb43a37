#include "protocols/registry.hpp"

#include "protocols/ad_psgd.hpp"
#include "protocols/async_sgd.hpp"
#include "protocols/diloco.hpp"
#include "protocols/fed_async.hpp"
#include "protocols/fed_avg.hpp"
#include "protocols/fed_buff.hpp"
#include "protocols/fed_opt.hpp"
#include "protocols/fed_prox.hpp"
#include "protocols/flare.hpp"
#include "protocols/hier_fed_avg.hpp"
#include "protocols/local_sgd.hpp"
#include "protocols/partial_participation.hpp"
#include "protocols/scaffold.hpp"
#include "protocols/streaming_diloco.hpp"

namespace dadsim::protocols {

Registry<ProtocolInfo>& protocol_registry() {
  static Registry<ProtocolInfo> registry{
      "protocol",
      {
          partial_gradient_sharing_info(),
          partial_dad_info(),
          partial_rank_dad_info(),
          fed_avg_info(),
          fed_prox_info(),
          scaffold_info(),
          fed_opt_info(),
          hier_fed_avg_info(),
          fed_buff_info(),
          fed_async_info(),
          local_sgd_info(),
          diloco_info(),
          streaming_diloco_info(),
          async_sgd_info(),
          ad_psgd_info(),
          flare_info(),
      },
  };
  return registry;
}

}  // namespace dadsim::protocols
