#include "sim/platform/build/fabric.hpp"

namespace dadsim::sim {
namespace {

/// A switch that never blocks; the adapters' own lines end in it.
class OneSwitch : public Fabric {
 public:
  void route(std::int64_t /*from*/, std::int64_t /*to*/, Links& /*links*/) const override {}
  void leave(std::int64_t /*from*/, Links& /*links*/) const override {}
  void enter(std::int64_t /*to*/, Links& /*links*/) const override {}
};

}  // namespace

std::unique_ptr<Fabric> make_one_switch() { return std::make_unique<OneSwitch>(); }

}  // namespace dadsim::sim
