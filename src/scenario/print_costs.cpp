#include "scenario/print_parts.hpp"

namespace dadsim::scenario {

using Open = XmlWriter::Open;

void write_costs(XmlWriter& xml, const spec::CostSpec& costs) {
  Open element(xml, "costs");
  element.set("currency", costs.currency)
      .set("electricity", costs.electricity)
      .set("carbon", costs.carbon)
      .set("overhead", costs.overhead)
      .set("network-energy", costs.network_energy);
  if (costs.egress_per_gb > 0 || !costs.egress_links.empty()) {
    Open egress(xml, "egress");
    egress.set("per-gb", costs.egress_per_gb);
    if (!costs.egress_links.empty()) egress.set("links", costs.egress_links);
  }
  for (const spec::CostSpec::Price& price : costs.prices) {
    Open one(xml, "price");
    one.set("device", price.device);
    if (price.per_hour) one.set("per-hour", *price.per_hour);
    if (price.idle_power) one.set("idle-power", *price.idle_power);
  }
  for (const spec::CostSpec::Line& line : costs.lines) {
    Open one(xml, "line");
    one.set("link", line.link).set("per-mbps-month", line.per_mbps_month);
  }
}

}  // namespace dadsim::scenario
