#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"

// What training costs: prices, power and what its electricity stands for.

namespace dadsim::spec {

/// What a device's price lets its tenant do.
enum class PriceTerm : std::uint8_t {
  on_demand,
  spot,      ///< it may be taken away at any time
  reserved,  ///< for a year
};
constexpr auto names_of(PriceTerm) {
  using enum PriceTerm;
  return std::to_array<Name<PriceTerm>>({{on_demand, "on-demand"}, {spot, "spot"}, {reserved, "reserved"}});
}

struct CostSpec {
  struct Price {
    std::string device;
    std::optional<double> per_hour;    ///< of one device; none: of the catalogue
    std::optional<double> idle_power;  ///< watts; none: kIdleShare of its power under load
  };
  /// Rent of lines, for as long as training takes.
  struct LinePrice {
    std::string link;           ///< name of links, in which * stands for anything, or class of links
    double per_mbps_month = 0;  ///< of a link, per 10⁶ bit/s of its nominal bandwidth; each direction is a link
  };
  /// Machines that may be taken away: cheaper, and interrupted.
  struct SpotPrice {
    double price = 1;             ///< share of the price of a device
    double interruptions = 0;     ///< of a device per hour, independent of each other
    double checkpoint_every = 0;  ///< seconds of training between checkpoints; 0: what is best
    double checkpoint_time = 0;   ///< seconds that one takes
    double restart = 0;           ///< seconds from an interruption until training goes on from the last checkpoint
    bool operator==(const SpotPrice&) const = default;
  };
  std::string currency = "USD";  ///< a word; the catalogue's prices are in USD
  // Of the catalogue's prices of devices:
  std::string provider = {};              ///< empty: of any
  PriceTerm term = PriceTerm::on_demand;  ///< which of them
  std::string price_date = {};            ///< a year, month or day; later offers are not taken; empty: the latest
  std::vector<Price> prices;
  std::vector<LinePrice> lines;
  double egress_per_gb = 0;  ///< per 10⁹ bytes
  std::string egress_links;  ///< name or class of the links whose bytes are paid for; empty: what every node sends
  double electricity = 0;    ///< per kWh
  double carbon = 0;         ///< grams of CO2 equivalent per kWh; 0: not told
  double overhead = 1;       ///< power usage effectiveness: energy of the building ÷ that of the machines
  double purchase = 0;       ///< what is bought for it, once
  double rent = 0;           ///< per month, of what is no device and no line
  std::optional<SpotPrice> spot = {};
  double network_energy = 0;  ///< kWh per 10⁹ bytes that nodes send; 0: the network's energy is not counted
};

/// The share of its power under load that a device is assumed to draw when it waits, where nobody says what it draws.
/// Data-centre GPUs were seen between 0.1 and 0.2.
inline constexpr double kIdleShare = 0.15;

/// A twelfth of 365.25 days, in seconds: what a price by the month is divided by.
inline constexpr double kMonth = 365.25 / 12 * 86400;

}  // namespace dadsim::spec
