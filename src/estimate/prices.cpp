#include "estimate/prices.hpp"

#include "estimate/device_prices.csv.hpp"
#include "estimate/egress_prices.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {

const std::vector<DevicePrice>& device_prices() {
  static const std::vector<DevicePrice> kPrices = [] {
    std::vector<DevicePrice> prices;
    const FactTable table(tables::kDevicePrices, {"device", "price [USD/h]", "date", "source"}, 3);
    for (const FactTable::Row& row : table.rows())
      prices.push_back({row.text("device"), row.number("price [USD/h]"), row.text("date"), row.text("source")});
    return prices;
  }();
  return kPrices;
}

const std::vector<EgressPrice>& egress_prices() {
  static const std::vector<EgressPrice> kPrices = [] {
    std::vector<EgressPrice> prices;
    const FactTable table(tables::kEgressPrices, {"from", "to", "price [USD/GB]", "date", "source"}, 4);
    for (const FactTable::Row& row : table.rows())
      prices.push_back(
          {row.text("from"), row.text("to"), row.number("price [USD/GB]"), row.text("date"), row.text("source")});
    return prices;
  }();
  return kPrices;
}

const DevicePrice* find_price(std::string_view device) {
  const DevicePrice* latest = nullptr;
  for (const DevicePrice& price : device_prices()) {
    if (price.device == device && (latest == nullptr || price.date > latest->date)) latest = &price;
  }
  return latest;
}

}  // namespace dadsim::estimate
