#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
#include "support/pattern.hpp"

namespace dadsim::scenario {
namespace {

constexpr Range kPrice{.minimum = 0, .maximum = 1e9};
constexpr Range kWatts{.minimum = 0, .maximum = 1e6};
constexpr std::size_t kMaxCurrency = 20;  // bytes
constexpr std::size_t kMaxLines = 1000;   // prices of lines

spec::CostSpec::Price read_price(const Node& node, const std::vector<std::string>& devices,
                                 const ReadContext& context) {
  spec::CostSpec::Price price;
  price.device = node.required_text("device", "the name of a device; `dadsim devices` lists them").value_or("");
  if (!price.device.empty() && std::ranges::find(devices, price.device) == devices.end())
    node.fail_at("device", "is unknown", context.findings.suggest(price.device, devices));
  if (node.has("per-hour")) price.per_hour = node.real("per-hour", kPrice);
  if (node.has("idle-power")) price.idle_power = node.real("idle-power", kWatts);
  if (!node.has("per-hour") && !node.has("idle-power"))
    node.fail("<price> says nothing", "per-hour=\"2.95\" or idle-power=\"60\", or both");
  return price;
}

}  // namespace

spec::CostSpec read_costs(const Element& element, const std::vector<spec::DeviceSpec>& own_devices,
                          const ReadContext& context) {
  const Node node(element, context.findings);
  spec::CostSpec costs;
  costs.currency = node.text("currency", costs.currency);
  if (costs.currency.size() > kMaxCurrency)
    node.fail_at("currency", "is too long", fmt::format("at most {} bytes, e.g. USD", kMaxCurrency));
  costs.electricity = node.real("electricity", kPrice, costs.electricity);
  costs.carbon = node.real("carbon", {.minimum = 0, .maximum = 1e5}, costs.carbon);
  costs.overhead = node.real("overhead", {.minimum = 1, .maximum = 10}, costs.overhead);
  costs.network_energy = node.real("network-energy", {.minimum = 0, .maximum = 1e3}, costs.network_energy);
  if (const Element* egress = node.child("egress")) {
    const Node one(*egress, context.findings);
    costs.egress_per_gb = one.real("per-gb", kPrice).value_or(0);
    costs.egress_links = one.text("links", "");
  }
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < std::min(own_devices.size(), kMaxDevices); ++i) devices.push_back(own_devices[i].name);
  devices.insert(devices.end(), context.catalog.devices.begin(), context.catalog.devices.end());
  std::set<std::string> seen;
  for (const Element* child : node.children("price")) {
    const Node one(*child, context.findings);
    costs.prices.push_back(read_price(one, devices, context));
    if (!costs.prices.back().device.empty() && !seen.insert(costs.prices.back().device).second)
      one.fail_at("device", "has a price already", "one <price> for a device");
  }
  const std::vector<const Element*> lines = node.children("line");
  if (lines.size() > kMaxLines) node.fail(fmt::format("{} <line>", lines.size()), fmt::format("at most {}", kMaxLines));
  for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) {
    const Node one(*lines[i], context.findings);
    costs.lines.push_back(
        {one.required_text("link", "a name of links, in which * stands for anything, or a class of links").value_or(""),
         one.real("per-mbps-month", kPrice).value_or(0)});
  }
  return costs;
}

void check_lines(const Element& element, const Scenario& scenario, const ReadContext& context) {
  const Node node(element, context.findings);
  const std::vector<const Element*> lines = node.children("line");
  if (lines.empty() || !context.catalog.links_of_platform) return;
  const std::vector<std::string> names = context.catalog.links_of_platform(scenario.platform);
  for (const Element* line : lines) {
    const Node one(*line, context.findings);
    const std::string pattern = one.text("link", "");
    if (std::ranges::any_of(names, [&](const std::string& name) { return fits(pattern, name); })) continue;
    one.fail_at("link", "fits no link of the platform and no class of links",
                context.findings.full() ? "" : context.findings.suggest(pattern, names));
  }
}

}  // namespace dadsim::scenario
