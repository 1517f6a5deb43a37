#include "sim/network/transport.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

using enum collectives::Protocol;

// What NCCL's three protocols cost per step of a ring, and the share of the bandwidth that they leave (a flag with
// every 4 of 8 bytes; 8 of 128; none), from the tables of its tuner (NVIDIA/nccl, src/graph/tuning.cc, hwLat of NVLINK,
// PCI, less the links' own latency, and NET, and the factors of LL and LL128). A step over NVLink with LL is quicker
// there (0.6 µs) than two links of the catalogue are by themselves: nothing is added to them. Over PCIe LL128 is not
// used by default, over the network where an adapter is near its GPU. Alone on its way a message would be soonest with
// LL up to 0.5 MB and with LL128 up to 8 MB; but a GPU often sends to several at once. The limits for one message by
// itself are an assumption; NCCL's collectives have one protocol for all of their messages.
constexpr double kLlLimit = 16 * 1024;         // bytes
constexpr double kLl128Limit = 16 * kLlLimit;  // bytes
constexpr double kLl128Share = 120.0 / 128.0;
constexpr std::array<Protocol, 3> kNvlinkProtocols{
    {{ll, 0, 0.5, kLlLimit}, {ll128, 1.9e-6, kLl128Share, kLl128Limit}, {simple, 3.4e-6, 1.0}}};
constexpr std::array<Protocol, 2> kPcieProtocols{{{ll, 0.5e-6, 0.5}, {simple, 5.2e-6, 1.0}}};
constexpr std::array<Protocol, 3> kRdmaProtocols{
    {{ll, 2.7e-6, 0.5}, {ll128, 4e-6, kLl128Share, 0}, {simple, 14e-6, 1.0}}};

// EFA: Simple calibrated on the all-reduce of 2 nodes with 4 adapters of 100 Gbit/s each in docs/validation.md. Why it
// is so much slower than over InfiniBand is not known here; that EFA delivers out of order may be the reason, for which
// it has no LL128 either.
constexpr std::array<Protocol, 2> kEfaProtocols{{{ll, 2.7e-6, 0.5}, {simple, 50e-6, 1.0}}};

// RCCL, per step of a tree with LL, of a ring with Simple (ROCm/rccl, src/graph/tuning.cc, hwLat of its NVLINK row,
// which is xGMI). What its network costs was calibrated on the all-reduce of 2 nodes of 8 MI300X in docs/validation.md.
constexpr std::array<Protocol, 2> kXgmiProtocols{{{ll, 1.2e-6, 0.5, kLlLimit}, {simple, 2.7e-6, 1.0}}};
constexpr std::array<Protocol, 2> kRcclProtocols{{{ll, 39e-6, 0.5}, {simple, 67e-6, 1.0}}};

std::span<const Protocol> rdma_protocols_of(std::span<const PathLink> links) {
  const auto all_are = [links](spec::MessageCosts costs) {
    return std::ranges::all_of(links, [costs](const PathLink& link) { return link.use->costs == costs; });
  };
  if (all_are(spec::MessageCosts::pcie)) return kPcieProtocols;
  if (all_are(spec::MessageCosts::xgmi)) return kXgmiProtocols;
  if (std::ranges::any_of(links, [](const PathLink& link) { return link.use->rccl; })) return kRcclProtocols;
  if (all_are(spec::MessageCosts::efa)) return kEfaProtocols;
  return kRdmaProtocols;
}

}  // namespace

PathUse::Cost PathUse::cost(double bytes, collectives::Protocol asked) const {
  if (protocols.empty()) return {bytes / efficiency, overhead};
  const auto by = [&](const Protocol& protocol) {
    return Cost{bytes / (efficiency * protocol.efficiency), overhead + protocol.latency};
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

PathUse path_use(std::span<const PathLink> links) {
  PathUse use;
  use.payload_rate = std::numeric_limits<double>::infinity();
  const auto rank = [](spec::Transport transport) {
    switch (transport) {
      case spec::Transport::plain:
        return 0;
      case spec::Transport::nvlink:
        return 1;
      case spec::Transport::rdma:
        return 2;
      case spec::Transport::tcp:
        return 3;
    }
    throw std::logic_error("unknown transport");
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
  // The first and the last TCP link are the hosts' own: a frame is stored and forwarded there, half a frame at each end
  // on average, and software runs. On a trunk between them a whole frame is stored.
  for (std::size_t i = first_tcp; i <= last_tcp && i < links.size(); ++i) {
    if (links[i].use->transport != spec::Transport::tcp) continue;
    const double frame_seconds = tcp::kFrame / links[i].bandwidth;
    const bool access = i == first_tcp || i == last_tcp;
    use.overhead += access ? frame_seconds / 2 + tcp::kSoftware : frame_seconds;
  }
  if (use.transport == spec::Transport::nvlink) use.protocols = kNvlinkProtocols;
  if (use.transport == spec::Transport::rdma) use.protocols = rdma_protocols_of(links);
  return use;
}

std::string describe(spec::Transport transport) {
  switch (transport) {
    case spec::Transport::plain:
      return "bandwidth and latency as the platform gives them";
    case spec::Transport::nvlink:
      return "the stated share of the nominal bandwidth; NCCL's protocols LL (half of the bandwidth), LL128 "
             "(1.9 µs, 94 %), Simple (3.4 µs): in a collective the one that its tuner takes, for a message by itself "
             "the quickest, LL up to 16 KiB, LL128 up to 256 KiB";
    case spec::Transport::rdma:
      return "the stated share of the nominal bandwidth; NCCL's protocols LL (2.7 µs, half of the bandwidth), LL128 "
             "(4 µs, 94 %; not EFA), Simple (14 µs; EFA: 50 µs): in a collective the one that its tuner takes, for a "
             "message by itself the quicker of LL and Simple; over PCIe LL 0.5 µs, Simple 5.2 µs; over xGMI LL 1.2 µs, "
             "Simple 2.7 µs, between its nodes, with RCCL, LL 39 µs, Simple 67 µs";
    case spec::Transport::tcp:
      return "one connection per pair, first in, first out: sending returns at once, a message is delivered a path "
             "latency after its transfer; headers (1448 of 1514 bytes), half a frame and 75 µs of software per access "
             "link; slow start on cold connections (10 segments, doubling every round trip); a burst that lies in the "
             "queue of its host's link leaves in the order of writing; acknowledgements of data both ways; "
             "windows, losses and recovery where messages overflow a queue (fitted, docs/validation.md)";
  }
  throw std::logic_error("unknown transport");
}

}  // namespace dadsim::sim
