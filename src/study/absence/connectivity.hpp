#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/platform.hpp"
#include "world/outage_calendar.hpp"

namespace dadsim::study {

/// Whom links that are down cut off. There is no other way round one.
class Connectivity {
 public:
  /// Nobody is ever cut off.
  explicit Connectivity(std::size_t sites) : cut_(sites) {}
  /// `hosts`: of every site those of its devices, which exchange with one another and each with its like of other
  /// sites; `server`: of the aggregator, empty where sites exchange among themselves. `links`: those that can fail, as
  /// the calendar numbers them.
  Connectivity(const std::vector<sim::RouteLink>& routes, const std::vector<std::vector<std::string>>& hosts,
               const std::string& server, const std::vector<std::string>& links);

  /// Per site, whether it reaches the aggregator; among peers, whether it is of the largest group of `candidates` of
  /// which all reach each other, as far as taking one site after the other finds it.
  std::vector<bool> reached(const world::OutageCalendar& calendar, const std::vector<bool>& candidates) const;

 private:
  using Links = std::vector<std::size_t>;
  static bool is_up(const world::OutageCalendar& calendar, const Links& links);
  std::vector<Links> cut_;                 ///< per site, links inside it and to the aggregator, both ways
  std::vector<std::vector<Links>> pairs_;  ///< per site and later site, both ways; empty with an aggregator
};

}  // namespace dadsim::study
