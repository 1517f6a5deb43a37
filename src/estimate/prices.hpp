#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::estimate {

/// What somebody asks for one device.
struct DevicePrice {
  std::string device;   ///< of the catalogue
  double per_hour = 0;  ///< USD, on demand
  std::string date;     ///< year, or year and month, of the offer
  std::string source;
};

/// What somebody asks for a gigabyte (10⁹ bytes) that leaves.
struct EgressPrice {
  std::string from, to;
  double per_gb = 0;  ///< USD
  std::string date;
  std::string source;
};

/// Dated examples, not today's prices: results say which they took.
const std::vector<DevicePrice>& device_prices();
const std::vector<EgressPrice>& egress_prices();

/// The latest for a device; nullptr if there is none.
const DevicePrice* find_price(std::string_view device);

}  // namespace dadsim::estimate
