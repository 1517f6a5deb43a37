#pragma once

#include <optional>
#include <string>

#include "scenario/elements/read.hpp"

// Links as written: a name of the catalogue, or a custom link with bandwidth, latency and transport.

namespace dadsim::scenario {

/// Returns whether a link is a custom one, given by its bandwidth.
bool is_own_link(const spec::LinkSpec& link);

/// Returns the catalogue link named by a required attribute. Returns a link without numbers, with a finding, if there
/// is none.
spec::LinkSpec read_catalog_link(const Node& node, const char* attribute, const ReadContext& context);

/// Reads a link of a GPU cluster: from the catalogue, or a custom link with this transport and latency.
/// `ATTRIBUTE-latency` overrides the latency of either. A custom link is named "ELEMENT ATTRIBUTE".
spec::LinkSpec read_cluster_link(const Node& node, const char* attribute, spec::Transport transport, double latency,
                                 const ReadContext& context);

/// Returns `queue` in bytes, or the queue for `congestion`; nullopt without either. Both are refused unless `any_tcp`.
std::optional<double> read_queue(const Node& node, bool any_tcp, spec::Transport transport);

/// Attributes `measured` (whether a TCP bandwidth is a measured goodput) and `per-connection` (byte/s; 0: not given).
/// `usual`: default of `measured`.
struct MeasuredRow {
  bool is_goodput = false;
  double per_connection = 0;
};
MeasuredRow read_measured(const Node& node, bool any_tcp, bool usual, spec::Transport transport);

/// An access line.
struct AccessLine {
  spec::LinkSpec up, down;
};

/// Reads an access line from `up`, `down`, `latency`, `up-latency`, `down-latency`, `transport`, `efficiency`, `queue`,
/// `congestion`, `measured` and `per-connection`. Custom links are named "`owner` up" and "`owner` down".
AccessLine read_access_line(const Node& node, const std::string& owner, const ReadContext& context);

/// Reads the link of each host to its region's switch: from `host`, or `host-bandwidth` and `host-latency`, and
/// `queue`, `congestion` or `measured`. Without any of these three, the bandwidth of a custom link counts as measured.
spec::LinkSpec read_host_link(const Node& node, const ReadContext& context);

}  // namespace dadsim::scenario
