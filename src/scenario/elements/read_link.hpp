#pragma once

#include <optional>
#include <string>

#include "scenario/elements/read.hpp"

// Links as they are written: a name of the catalogue, or a bandwidth of one's own with latency and transport beside it.

namespace dadsim::scenario {

/// Whether a link was given by its bandwidth.
bool is_own_link(const spec::LinkSpec& link);

/// The link of the catalogue that a required attribute names. With a finding and without numbers if there is none.
spec::LinkSpec read_catalog_link(const Node& node, const char* attribute, const ReadContext& context);

/// A link of a GPU cluster: of the catalogue, or a bandwidth of one's own with this transport and latency. `ATTRIBUTE`
/// and `ATTRIBUTE-latency`, which stands for either's own latency. Links of one's own are called "ELEMENT ATTRIBUTE".
spec::LinkSpec read_cluster_link(const Node& node, const char* attribute, spec::Transport transport, double latency,
                                 const ReadContext& context);

/// `queue`, or what `congestion` makes of it; nullopt where neither is said. Both are refused unless `any_tcp`.
std::optional<double> read_queue(const Node& node, bool any_tcp, spec::Transport transport);

/// Whether a bandwidth over TCP is what transfers were measured to get, and what a connection gets (byte/s; 0: not
/// said): of `measured` and `per-connection`. `usual`: where `measured` is left out.
struct MeasuredRow {
  bool is_goodput = false;
  double per_connection = 0;
};
MeasuredRow read_measured(const Node& node, bool any_tcp, bool usual, spec::Transport transport);

/// An access line.
struct AccessLine {
  spec::LinkSpec up, down;
};

/// From `up`, `down`, `latency`, `up-latency`, `down-latency`, `transport`, `efficiency`, `queue`, `congestion`,
/// `measured` and `per-connection`. Links of one's own are called "`owner` up" and "`owner` down".
AccessLine read_access_line(const Node& node, const std::string& owner, const ReadContext& context);

/// How each host hangs on the switch of its region: from `host`, or `host-bandwidth` and `host-latency`, and `queue`,
/// `congestion` or `measured`. A bandwidth of one's own without any of these is taken as measured.
spec::LinkSpec read_host_link(const Node& node, const ReadContext& context);

}  // namespace dadsim::scenario
