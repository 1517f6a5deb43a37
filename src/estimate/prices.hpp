#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/cost_specification.hpp"

namespace dadsim::estimate {

/// Price of one device.
struct DevicePrice {
  std::string device;    ///< name in the catalogue
  std::string provider;  ///< provider; for a median price, all providers that it includes
  spec::PriceTerm term = spec::PriceTerm::on_demand;
  double per_hour = 0;  ///< USD per hour
  std::string date;     ///< year, or year and month, of the offer
  std::string source;
};

/// Price of a gigabyte (10⁹ bytes) of outgoing traffic.
struct EgressPrice {
  std::string from, to;
  double per_gb = 0;  ///< USD per GB
  std::string date;
  std::string source;
};

/// Carbon intensity of the grid in a cloud's region.
struct GridCarbon {
  std::string region;  ///< for example `gcp:europe-west1`
  std::string place;
  double grams = 0;  ///< g CO2 equivalent per kWh
  std::string date;
  std::string source;
};
const std::vector<GridCarbon>& grid_carbon();
/// Returns the carbon intensity of a region; nullptr if there is none.
const GridCarbon* find_carbon(std::string_view region);

/// Return all prices: dated examples, not today's. Results name the prices that they used.
const std::vector<DevicePrice>& device_prices();
const std::vector<EgressPrice>& egress_prices();

/// Returns the latest price of a device for the provider and term in `costs`, up to the price date there; on a tie, the
/// first. nullptr if there is none.
const DevicePrice* find_price(std::string_view device, const spec::CostSpec& costs = {});

}  // namespace dadsim::estimate
