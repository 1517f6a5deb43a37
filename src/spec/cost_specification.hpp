#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"

// Costs of training: prices, power, and emissions of the electricity.

namespace dadsim::spec {

/// Terms of renting a device.
enum class PriceTerm : std::uint8_t {
  on_demand,
  spot,      ///< cheaper, but the provider may take the device away
  reserved,  ///< reserved for a year
};
constexpr auto names_of(PriceTerm) {
  using enum PriceTerm;
  return std::to_array<Name<PriceTerm>>({{on_demand, "on-demand"}, {spot, "spot"}, {reserved, "reserved"}});
}

struct CostSpec {
  struct Price {
    std::string device;
    std::optional<double> per_hour;    ///< price of one device per hour; none: the catalogue's
    std::optional<double> idle_power;  ///< watts of an idle device; none: kIdleShare of its power under load
  };
  /// Rent of lines, for the duration of training.
  struct LinePrice {
    std::string link;           ///< name or class of links; * in a name matches anything
    double per_mbps_month = 0;  ///< price per 10⁶ bit/s of nominal bandwidth, for each direction
  };
  /// Interruptible (spot) machines.
  struct SpotPrice {
    double price = 1;             ///< price ÷ regular price of a device
    double interruptions = 0;     ///< interruptions per device and hour, independent of each other
    double checkpoint_every = 0;  ///< seconds of training between checkpoints; 0: the optimum
    double checkpoint_time = 0;   ///< seconds per checkpoint
    double restart = 0;           ///< seconds from an interruption until training continues from the last checkpoint
    bool operator==(const SpotPrice&) const = default;
  };
  std::string currency = "USD";  ///< currency; the catalogue's prices are in USD
  // Selection from the catalogue's device prices:
  std::string provider = {};  ///< provider's name; empty: any
  PriceTerm term = PriceTerm::on_demand;
  std::string price_date = {};  ///< a year, month or day, after which offers are ignored; empty: the latest offers
                                ///< count
  std::vector<Price> prices;
  std::vector<LinePrice> lines;
  double egress_per_gb = 0;  ///< price per 10⁹ bytes
  std::string egress_links;  ///< name or class of the links whose bytes are charged; empty: all bytes sent
  double electricity = 0;    ///< price per kWh
  double carbon = 0;         ///< grams of CO2 equivalent per kWh; 0: emissions are not reported
  double overhead = 1;       ///< power usage effectiveness: energy of the building ÷ energy of the machines
  double purchase = 0;       ///< one-time purchases, in `currency`
  double rent = 0;           ///< other costs per month, apart from devices and lines
  std::optional<SpotPrice> spot = {};
  double network_energy = 0;  ///< kWh per 10⁹ bytes sent; 0: the network's energy is not counted
};

/// Assumed idle power as a share of the power under load, if a device states none. Measurements of data-centre GPUs lie
/// between 0.1 and 0.2.
inline constexpr double kIdleShare = 0.15;

/// Seconds per month (a twelfth of 365.25 days), for monthly prices.
inline constexpr double kMonth = 365.25 / 12 * 86400;

}  // namespace dadsim::spec
