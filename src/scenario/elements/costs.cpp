#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "estimate/prices.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxCurrency = 20;  // longest name of a currency, bytes
constexpr std::size_t kMaxLines = 1000;   // largest number of price lines

const Table<spec::CostSpec::Price>& price_table() {
  using Spec = spec::CostSpec::Price;
  static const Table<Spec> kTable =
      Table<Spec>(
          "price", "Price and idle power of one device.",
          {attribute("device", &Spec::device, name_in("devices", "the name of a device; `dadsim devices` lists them"))
               .must(),
           attribute("per-hour", &Spec::per_hour, real(kPrice)).if_left_out("from the catalogue, see `dadsim prices`"),
           attribute("idle-power", &Spec::idle_power, real(kNonNegative)).if_left_out("0.15 of its power")})
          .check([](const Node& node, const ReadContext&, const Spec&) {
            if (!node.has("per-hour") && !node.has("idle-power"))
              node.fail("<price> lacks 'per-hour' and 'idle-power'",
                        "add per-hour=\"2.95\" or idle-power=\"60\", or both");
          })
          .repeats();
  return kTable;
}

const Table<spec::CostSpec::LinePrice>& line_table() {
  using Spec = spec::CostSpec::LinePrice;
  static const Table<Spec> kTable =
      Table<Spec>(
          "line", "Price of links for the duration of training, billed by the second; for runs with sharing.",
          {attribute("link", &Spec::link, text("link names, with * for any characters, or a class of links")).must(),
           attribute("per-mbps-month", &Spec::per_mbps_month, real(kPrice)).must()})
          .repeats();
  return kTable;
}

const Table<spec::CostSpec>& egress_table() {
  using Spec = spec::CostSpec;
  static const Table<Spec> kTable = Table<Spec>("egress", "Price of sent bytes.",
                                                {attribute("per-gb", &Spec::egress_per_gb, real(kPrice)).must(),
                                                 attribute("links", &Spec::egress_links, any_text())
                                                     .if_given()
                                                     .if_left_out("every byte that a node sends, counted once")});
  return kTable;
}

const Table<spec::CostSpec::SpotPrice>& spot_table() {
  using Spec = spec::CostSpec::SpotPrice;
  constexpr QuantityForm kTime{Unit::seconds, {.minimum = 0, .maximum = 1e7}, "seconds with their unit, e.g. 60s"};
  static const Table<Spec> kTable = Table<Spec>(
      "spot",
      "Expected cost on spot machines, which are cheaper and can be interrupted. Training restarts from the last "
      "checkpoint, and all machines wait for the replacement.",
      {attribute("price", &Spec::price, real(kPositiveShare)).must(),
       attribute("interruptions", &Spec::interruptions, real({.minimum = 0, .maximum = 1000, .open_minimum = true}))
           .must(),
       attribute("checkpoint-every", &Spec::checkpoint_every, quantity(kTime))
           .if_given()
           .if_left_out("the interval with the least expected time"),
       attribute("checkpoint-time", &Spec::checkpoint_time, quantity(kDurationForm)).must(),
       attribute("restart", &Spec::restart, quantity(kTime))});
  return kTable;
}

/// Returns the row of carbon-region, an alternative to `carbon`. Scenarios are printed with `carbon`.
Row<spec::CostSpec> carbon_region_row() {
  constexpr const char* kName = "carbon-region";
  constexpr const char* kForm = "a region of a cloud; `dadsim prices` lists them";
  Row<spec::CostSpec> row = by_code<spec::CostSpec>(
      attribute(kName, text(kForm)),
      [](const Node& node, const ReadContext& context, spec::CostSpec& costs) {
        const std::string region = node.text(kName, "");
        if (node.has("carbon")) node.refuse(kName, "cannot be combined with 'carbon'", "remove one of the two");
        if (const estimate::GridCarbon* grid = estimate::find_carbon(region)) {
          costs.carbon = grid->grams;
          return;
        }
        std::vector<std::string> names;
        for (const estimate::GridCarbon& one : estimate::grid_carbon()) names.push_back(one.region);
        node.fail_at(kName, "is unknown", context.findings.suggest(region, names));
      },
      [](const spec::CostSpec&, const PathText&) { return std::string(); });
  row.printed = [](const spec::CostSpec&) { return false; };
  return row;
}

}  // namespace

const Table<spec::CostSpec>& costs_table() {
  using Spec = spec::CostSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "costs", "Prices, power and carbon for the costs of training; without this element, no costs are reported.",
          {attribute("currency", &Spec::currency, text()),
           attribute("provider", &Spec::provider, text("a provider of the catalogue; `dadsim prices` lists them"))
               .if_given()
               .if_left_out("any provider"),
           attribute("term", &Spec::term).if_given(),
           attribute("price-date", &Spec::price_date,
                     text("a year, month or day, e.g. 2026-05", "[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?"))
               .if_given()
               .if_left_out("the latest price"),
           attribute("electricity", &Spec::electricity, real(kPrice)),
           attribute("carbon", &Spec::carbon, real({.minimum = 0, .maximum = 100000})).if_left_out("0: not reported"),
           carbon_region_row(), attribute("overhead", &Spec::overhead, real({.minimum = 1, .maximum = 10})),
           attribute("network-energy", &Spec::network_energy, real({.minimum = 0, .maximum = 1000}))
               .if_left_out("0: not counted"),
           attribute("purchase", &Spec::purchase, real({.minimum = 0, .maximum = 1e12})).if_given(),
           attribute("rent", &Spec::rent, real(kPrice)).if_given()})
          .holds({"spot"})
          .with(egress_table(),
                [](const Spec& costs) { return costs.egress_per_gb > 0 || !costs.egress_links.empty(); })
          .with(price_table(), &Spec::prices)
          .with(line_table(), &Spec::lines, kMaxLines);
  return kTable;
}

namespace {

/// Checks that at least one price of the catalogue matches the selection.
void check_prices(const Node& node, const spec::CostSpec& costs, const ReadContext& context) {
  static const std::regex kDate("[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?");
  if (!costs.price_date.empty() && !std::regex_match(costs.price_date, kDate)) {
    node.fail_at("price-date", "is no date", "a year, month or day, e.g. 2026-05");
    return;
  }
  for (const char* one : {"provider", "term", "price-date"}) {
    if (node.has(one) && costs.currency != "USD")
      node.fail_at(one, "uses the catalogue's prices, which are in USD", "set currency=\"USD\", or add a <price>");
  }
  if (costs.term == spec::PriceTerm::spot && node.child("spot") != nullptr)
    node.fail_at("term", "is a price of spot machines, but <spot> needs an on-demand price",
                 "set term=\"on-demand\", or remove <spot>");
  std::vector<std::string> providers;
  bool some = false;
  for (const estimate::DevicePrice& price : estimate::device_prices()) {
    providers.push_back(price.provider);
    some = some || estimate::find_price(price.device, costs) != nullptr;
  }
  if (!costs.provider.empty() && std::ranges::find(providers, costs.provider) == providers.end()) {
    std::ranges::sort(providers);
    const auto twice = std::ranges::unique(providers);
    providers.erase(twice.begin(), twice.end());
    node.fail_at("provider", "is unknown", context.findings.suggest(costs.provider, providers));
  } else if (!some) {
    node.fail("<costs> needs prices that the catalogue lacks",
              "choose another provider, term or price-date; `dadsim prices` lists them");
  }
}

}  // namespace

spec::CostSpec read_costs(const Element& element, const std::vector<spec::DeviceSpec>& own_devices,
                          const ReadContext& context) {
  const Node node(element, context.findings);
  spec::CostSpec costs;
  costs_table().read(node, context, costs);
  if (costs.currency.size() > kMaxCurrency)
    node.fail_at("currency", "is too long", fmt::format("at most {} bytes, e.g. USD", kMaxCurrency));
  check_prices(node, costs, context);
  if (const Element* spot = node.child("spot")) {
    costs.spot = spot_table().read(*spot, context);
    if (costs.spot->checkpoint_every == 0 && Node(*spot, context.findings).has("checkpoint-every"))
      Node(*spot, context.findings).fail_at("checkpoint-every", "is 0", "seconds above 0 with their unit, e.g. 30m");
  }
  const std::vector<std::string> devices = device_names(own_devices, context);
  std::set<std::string> seen;
  const std::vector<const Element*> prices = node.children("price");
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const Node one(*prices[i], context.findings);
    const std::string& device = costs.prices[i].device;
    if (device.empty()) continue;
    if (std::ranges::find(devices, device) == devices.end())
      one.fail_at("device", "is unknown", context.findings.suggest(spec::NameKind::device, device, devices));
    if (!seen.insert(device).second) one.fail_at("device", "has a price already", "use one <price> per device");
  }
  return costs;
}

void write_costs(XmlWriter& xml, const spec::CostSpec& costs) {
  XmlWriter::Open element(xml, "costs");
  costs_table().print_attributes(element, costs, {});
  costs_table().print_parts(xml, costs, {});
  if (costs.spot) spot_table().print(xml, *costs.spot, {});
}

std::vector<ElementRule> costs_rules() {
  return {costs_table().rule(), price_table().rule(), egress_table().rule(), line_table().rule(), spot_table().rule()};
}

}  // namespace dadsim::scenario
