#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/cost_specification.hpp"

namespace dadsim::estimate {

/// Price of one device.
struct DevicePrice {
  std::string device;    ///< name in the catalogue
  std::string provider;  ///< provider, or the providers whose prices this is the middle of
  spec::PriceTerm term = spec::PriceTerm::on_demand;
  double per_hour = 0;  ///< USD
  std::string date;     ///< year, or year and month, of the offer
  std::string source;
};

/// Price of a gigabyte (10⁹ bytes) of outgoing traffic.
struct EgressPrice {
  std::string from, to;
  double per_gb = 0;  ///< USD
  std::string date;
  std::string source;
};

/// Carbon intensity of the grid in a cloud's region.
struct GridCarbon {
  std::string region;  ///< `gcp:europe-west1`
  std::string place;
  double grams = 0;  ///< g CO2 equivalent per kWh
  std::string date;
  std::string source;
};
const std::vector<GridCarbon>& grid_carbon();
/// Returns nullptr if there is none.
const GridCarbon* find_carbon(std::string_view region);

/// Prices are dated examples, not today's prices; results name the ones they used.
const std::vector<DevicePrice>& device_prices();
const std::vector<EgressPrice>& egress_prices();

/// Returns the latest price of a device by the provider and term that `costs` names, not after its date; the first of
/// equals. nullptr if there is none.
const DevicePrice* find_price(std::string_view device, const spec::CostSpec& costs = {});

}  // namespace dadsim::estimate
