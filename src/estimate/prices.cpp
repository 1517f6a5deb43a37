#include "estimate/prices.hpp"

#include "estimate/device_prices.csv.hpp"
#include "estimate/egress_prices.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {

const std::vector<DevicePrice>& device_prices() {
  static const std::vector<DevicePrice> kPrices =
      FactTable(tables::kDevicePrices, {"device", "price [USD/h]", "date", "source"}, 3)
          .each([](const FactTable::Row& row) {
            return DevicePrice{row.text("device"), row.number("price [USD/h]"), row.text("date"), row.text("source")};
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

const DevicePrice* find_price(std::string_view device) {
  const DevicePrice* latest = nullptr;
  for (const DevicePrice& price : device_prices()) {
    if (price.device == device && (latest == nullptr || price.date > latest->date)) latest = &price;
  }
  return latest;
}

}  // namespace dadsim::estimate
