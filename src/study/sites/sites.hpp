#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/document/document.hpp"

namespace dadsim::study {

/// Request of `dadsim sites`. Lines are quantities of the scenario language: one for all sites, or one per site.
struct SitesRequest {
  std::int64_t sites = 2;
  std::vector<std::string> up, down;    ///< "20Mbps"
  std::vector<std::string> round_trip;  ///< round-trip time to the hub, with its unit
  std::string device = "rtx-3090";      ///< device of each site
  std::string model = {};               ///< workload that is timed; empty: the network that learns
  std::string data = "digits";          ///< "digits", or the path of a CSV file
  std::string target = "last";          ///< name of the column with the class
};

struct SitesAnswer {
  report::Document document;
  std::string scenario;  ///< text of the generated scenario
};

/// Learns with the algorithms of scenarios/hospitals.xml and times them on these lines. Reports the algorithm that
/// reaches the target first, its time and bytes, and the data revealed by its messages. Members of the JSON:
/// docs/output-json.md. Throws InputError, SimulationError, Cancelled.
SitesAnswer ask_sites(const SitesRequest& request, bool show_progress);

}  // namespace dadsim::study
