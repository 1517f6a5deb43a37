#include "sim/network/transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/network/message_costs.csv.hpp"
#include "sim/network/tcp.hpp"
#include "sim/platform.hpp"
#include "support/fact_table.hpp"

namespace dadsim::sim {
namespace {

using enum collectives::Protocol;

using Protocols = std::vector<Protocol>;

/// Returns the rows of message_costs.csv for one kind of link.
const Protocols& protocols_over(const std::string& what) {
  static const std::map<std::string, Protocols> kProtocols = [] {
    const FactTable table(tables::kMessageCosts,
                          {"over", "protocol", "latency [s]", "share", "most [byte]", "date", "source"}, 2);
    std::map<std::string, Protocols> all;
    for (const FactTable::Row& row : table.rows()) {
      Protocol one;
      one.name = row.one_of<collectives::Protocol>("protocol", {{"ll", ll}, {"ll128", ll128}, {"simple", simple}});
      one.latency = row.number("latency [s]");
      one.efficiency = row.number("share");
      one.most_bytes = row.number_or("most [byte]", one.most_bytes);
      all[row.text("over")].push_back(one);
    }
    return all;
  }();
  return kProtocols.at(what);
}

/// Returns, for example, "LL (2.7 µs, 50 %), Simple (14 µs)": each protocol's cost in addition to the links' latency,
/// and its share of the bandwidth.
std::string in_words(const std::string& what) {
  std::vector<std::string> words;
  for (const Protocol& protocol : protocols_over(what)) {
    std::vector<std::string> costs;
    if (protocol.latency > 0) costs.push_back(fmt::format("{:.3g} µs", 1e6 * protocol.latency));
    if (protocol.efficiency < 1) costs.push_back(fmt::format("{:.0f} %", 100 * protocol.efficiency));
    words.push_back(fmt::format("{} ({})", to_string(protocol.name), fmt::join(costs, ", ")));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns, for example, "LL up to 16 KiB, LL128 up to 256 KiB": size limits for single messages.
std::string limits_in_words(const std::string& what) {
  std::vector<std::string> words;
  for (const Protocol& protocol : protocols_over(what)) {
    if (std::isfinite(protocol.most_bytes))
      words.push_back(fmt::format("{} up to {:g} KiB", to_string(protocol.name), protocol.most_bytes / 1024));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

bool all_cost(std::span<const PathLink> links, spec::MessageCosts costs) {
  return std::ranges::all_of(links, [costs](const PathLink& link) {
    return link.use->costs == costs || link.use->costs == spec::MessageCosts::any;
  });
}

std::span<const Protocol> rdma_protocols_of(std::span<const PathLink> links) {
  if (all_cost(links, spec::MessageCosts::pcie)) return protocols_over("pcie");
  if (all_cost(links, spec::MessageCosts::xgmi)) return protocols_over("xgmi");
  if (std::ranges::any_of(links, [](const PathLink& link) { return link.use->rccl; })) return protocols_over("rccl");
  if (all_cost(links, spec::MessageCosts::efa)) return protocols_over("efa");
  if (all_cost(links, spec::MessageCosts::ici)) return protocols_over("ici");
  return protocols_over("network");
}

}  // namespace

PathUse::Cost PathUse::cost(double bytes, collectives::Protocol asked, double post) const {
  if (protocols.empty()) return {bytes / efficiency, overhead};
  const double posted = posts && bytes > 0 ? post * payload_rate / efficiency : 0;
  const auto by = [&](const Protocol& protocol) {
    return Cost{bytes / (efficiency * protocol.efficiency) + posted, overhead + protocol.latency};
  };
  if (asked != by_message) {
    const auto found = std::ranges::find(protocols, asked, &Protocol::name);
    return by(found == protocols.end() ? protocols.back() : *found);
  }
  Cost best;
  double soonest = std::numeric_limits<double>::infinity();
  for (const Protocol& protocol : protocols) {
    if (bytes > protocol.most_bytes) continue;
    const double seconds = protocol.latency + bytes / (payload_rate * protocol.efficiency);
    if (seconds < soonest) {
      soonest = seconds;
      best = by(protocol);
    }
  }
  return best;
}

double PathUse::software_of(double bytes, collectives::Protocol protocol, double post) const {
  const bool is_posted = bytes > 0 && (posts || transport == spec::Transport::tcp);
  const double by_protocol = protocols.empty() ? 0 : cost(bytes, protocol).overhead - overhead;
  return host_software() + by_protocol + (is_posted ? post : 0);
}

/// Returns 2 for LL in a cluster, since LL adds 4 bytes of flags to every 4 bytes of data; otherwise 1, because LL128
/// is not used over sockets.
double PathUse::carried(collectives::Protocol protocol) const { return in_cluster && protocol == ll ? 2 : 1; }

PathUse path_use(std::span<const PathLink> links) {
  PathUse use;
  use.payload_rate = std::numeric_limits<double>::infinity();
  const auto rank = [](spec::Transport transport) {
    using enum spec::Transport;
    return transport == plain ? 0 : transport == nvlink ? 1 : transport == rdma ? 2 : 3;
  };
  std::size_t first_tcp = links.size();
  std::size_t last_tcp = links.size();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const PathLink& link = links[i];
    if (rank(link.use->transport) > rank(use.transport)) use.transport = link.use->transport;
    if (link.bandwidth * link.use->efficiency < use.payload_rate) {
      use.payload_rate = link.bandwidth * link.use->efficiency;
      use.efficiency = link.use->efficiency;
    }
    if (link.use->transport == spec::Transport::tcp) {
      if (first_tcp == links.size()) first_tcp = i;
      last_tcp = i;
    }
  }
  if (use.transport == spec::Transport::tcp) {
    use.in_cluster = std::ranges::all_of(links, [](const PathLink& link) { return link.use->in_cluster; });
    use.software = use.in_cluster ? tcp::fitted().cluster_software : tcp::fitted().software;
  }
  // Adds the store-and-forward delay and the software of hosts. At the first and the last TCP link half a frame is
  // stored at each end on average. On a trunk between them a whole frame is stored.
  for (std::size_t i = first_tcp; i <= last_tcp && i < links.size(); ++i) {
    if (links[i].use->transport != spec::Transport::tcp) continue;
    const double frame_seconds = tcp::kFrame / links[i].bandwidth;
    const bool access = i == first_tcp || i == last_tcp;
    use.overhead += access ? frame_seconds / 2 + use.software : frame_seconds;
  }
  if (use.transport == spec::Transport::nvlink) use.protocols = protocols_over("nvlink");
  if (use.transport == spec::Transport::rdma) {
    use.protocols = rdma_protocols_of(links);
    use.posts = !all_cost(links, spec::MessageCosts::pcie) && !all_cost(links, spec::MessageCosts::xgmi);
  }
  return use;
}

std::string describe(spec::Transport transport) {
  switch (transport) {
    case spec::Transport::plain:
      return "bandwidth and latency as the platform gives them";
    case spec::Transport::nvlink:
      return fmt::format(
          "the stated share of the nominal bandwidth; NCCL's protocols {}: a collective uses the protocol that NCCL's "
          "tuner takes, a single message the quickest, {}",
          in_words("nvlink"), limits_in_words("nvlink"));
    case spec::Transport::rdma:
      return fmt::format(
          "the stated share of the nominal bandwidth; NCCL's protocols {}; over EFA {}: a collective uses the protocol "
          "that NCCL's tuner takes, a single message the quicker of LL and Simple; over PCIe {}; over xGMI {}, between "
          "its "
          "nodes, with RCCL, {}",
          in_words("network"), in_words("efa"), in_words("pcie"), in_words("xgmi"), in_words("rccl"));
    case spec::Transport::tcp:
      return fmt::format(
          "one connection per pair, first in, first out. Sending returns at once, and a message arrives one path "
          "latency after its transfer. Costs are headers ({:g} of {:g} bytes), half a frame and {:g} µs of software "
          "per access link, slow start on cold connections ({:g} segments, doubling every round trip) and "
          "acknowledgements. A burst in the queue of its host's link leaves in the order of writing. Windows, losses "
          "and recovery follow when messages overflow a queue (fitted, docs/validation.md). An adapter of a "
          "<gpu-cluster> takes {:g} µs of software at any rate and loses no packets; a switch port loses packets only "
          "if more arrives than leaves. Lines of a <federation>, a <wan> or a file, and access lines of the catalogue "
          "(fibre-1g, cable-up …) lose what their queue does not hold",
          tcp::kSegment, tcp::kFrame, 1e6 * tcp::fitted().software, tcp::kInitialWindow / tcp::kSegment,
          1e6 * tcp::fitted().cluster_software);
  }
  throw std::logic_error("unknown transport");
}

}  // namespace dadsim::sim
