#pragma once

#include <optional>
#include <span>
#include <string>

#include "scenario/read.hpp"

// Links as they are written: a name of the catalogue, or a bandwidth of one's own with latency and transport beside it.

namespace dadsim::scenario {

/// Whether a link was given by its bandwidth.
bool is_own_link(const spec::LinkSpec& link);

/// "plain", "tcp", "rdma", "nvlink", in the order of Transport.
std::span<const std::string> transport_names();

/// The link of the catalogue that a required attribute names. With a finding and without numbers if there is none.
spec::LinkSpec read_catalog_link(const Node& node, const char* attribute, const ReadContext& context);

/// An access line.
struct AccessLine {
  spec::LinkSpec up, down;
};

/// From `up`, `down`, `latency`, `up-latency`, `down-latency`, `transport`, `efficiency` and `queue`. Links of one's
/// own are called "`owner` up" and "`owner` down".
AccessLine read_access_line(const Node& node, const std::string& owner, const ReadContext& context);

/// How each host hangs on the switch of its region: from `host`, or `host-bandwidth` and `host-latency`, and `queue`.
spec::LinkSpec read_host_link(const Node& node, const ReadContext& context);

}  // namespace dadsim::scenario
