#include "estimate/prices.hpp"

#include "estimate/device_prices.csv.hpp"
#include "estimate/egress_prices.csv.hpp"
#include "estimate/grid_carbon.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {

const std::vector<DevicePrice>& device_prices() {
  static const std::vector<DevicePrice> kPrices =
      FactTable(tables::kDevicePrices, {"device", "provider", "term", "price [USD/h]", "date", "source"}, 5)
          .each([](const FactTable::Row& row) {
            const std::optional<spec::PriceTerm> term = spec::parse<spec::PriceTerm>(row.text("term"));
            if (!term) row.wrong("'" + row.text("term") + "' as a term", "on-demand, spot or reserved");
            return DevicePrice{row.text("device"),          row.text("provider"), *term,
                               row.number("price [USD/h]"), row.text("date"),     row.text("source")};
          });
  return kPrices;
}

const std::vector<EgressPrice>& egress_prices() {
  static const std::vector<EgressPrice> kPrices =
      FactTable(tables::kEgressPrices, {"from", "to", "price [USD/GB]", "date", "source"}, 4)
          .each([](const FactTable::Row& row) {
            return EgressPrice{row.text("from"), row.text("to"), row.number("price [USD/GB]"), row.text("date"),
                               row.text("source")};
          });
  return kPrices;
}

const DevicePrice* find_price(std::string_view device, const spec::CostSpec& costs) {
  const DevicePrice* latest = nullptr;
  for (const DevicePrice& price : device_prices()) {
    if (price.device != device || price.term != costs.term) continue;
    if (!costs.provider.empty() && price.provider != costs.provider) continue;
    // A month and a day in this month count as equally late.
    if (!costs.price_date.empty() && price.date.compare(0, costs.price_date.size(), costs.price_date) > 0) continue;
    if (latest == nullptr || price.date > latest->date) latest = &price;
  }
  return latest;
}

const std::vector<GridCarbon>& grid_carbon() {
  static const std::vector<GridCarbon> kRegions =
      FactTable(tables::kGridCarbon, {"region", "place", "carbon [g/kWh]", "date", "source"}, 1)
          .each([](const FactTable::Row& row) {
            return GridCarbon{row.text("region"), row.text("place"), row.number("carbon [g/kWh]"), row.text("date"),
                              row.text("source")};
          });
  return kRegions;
}

const GridCarbon* find_carbon(std::string_view region) {
  for (const GridCarbon& one : grid_carbon()) {
    if (one.region == region) return &one;
  }
  return nullptr;
}

}  // namespace dadsim::estimate
