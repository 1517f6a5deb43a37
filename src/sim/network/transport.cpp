#include "sim/network/transport.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

// What NCCL's three protocols cost per step of a ring, and the share of the bandwidth that they leave (a flag with
// every 4 of 8 bytes; 8 of 128; none), from the tables of its tuner (NVIDIA/nccl, src/graph/tuning.cc, hwLat of NVLINK,
// PCI, less the links' own latency, and NET, and the factors of LL and LL128). Over PCIe and the network LL128 is not
// used by default. Alone on its way a message would be soonest with LL up to 0.5 MB and with LL128 up to 8 MB; but a
// GPU often sends to several at once, and NCCL decides by the size of the whole collective. The limits for one message
// are an assumption:
constexpr double kLlLimit = 16 * 1024;         // bytes
constexpr double kLl128Limit = 16 * kLlLimit;  // bytes
constexpr std::array<Protocol, 3> kNvlinkProtocols{
    {{"LL", 0.6e-6, 0.5, kLlLimit}, {"LL128", 1.9e-6, 120.0 / 128.0, kLl128Limit}, {"Simple", 3.4e-6, 1.0}}};
constexpr std::array<Protocol, 2> kPcieProtocols{{{"LL", 0.5e-6, 0.5}, {"Simple", 5.2e-6, 1.0}}};
constexpr std::array<Protocol, 2> kRdmaProtocols{{{"LL", 2.7e-6, 0.5}, {"Simple", 14e-6, 1.0}}};

// EFA: Simple calibrated on the all-reduce of 2 nodes with 4 adapters of 100 Gbit/s each in docs/validation.md. Why it
// is so much slower than over InfiniBand is not known here; that EFA delivers out of order may be the reason.
constexpr std::array<Protocol, 2> kEfaProtocols{{{"LL", 2.7e-6, 0.5}, {"Simple", 50e-6, 1.0}}};

// RCCL, per step of a tree with LL, of a ring with Simple (ROCm/rccl, src/graph/tuning.cc, hwLat of its NVLINK row,
// which is xGMI). What its network costs was calibrated on the all-reduce of 2 nodes of 8 MI300X in docs/validation.md.
constexpr std::array<Protocol, 2> kXgmiProtocols{{{"LL", 1.2e-6, 0.5, kLlLimit}, {"Simple", 2.7e-6, 1.0}}};
constexpr std::array<Protocol, 2> kRcclProtocols{{{"LL", 39e-6, 0.5}, {"Simple", 67e-6, 1.0}}};

std::span<const Protocol> rdma_protocols_of(std::span<const PathLink> links) {
  const auto all_are = [links](const char* family) {
    return std::ranges::all_of(links,
                               [family](const PathLink& link) { return link.use->link_class.starts_with(family); });
  };
  if (all_are("pcie")) return kPcieProtocols;
  if (all_are("xgmi")) return kXgmiProtocols;
  if (std::ranges::any_of(links, [](const PathLink& link) { return link.use->rccl; })) return kRcclProtocols;
  if (all_are("efa-")) return kEfaProtocols;
  return kRdmaProtocols;
}

}  // namespace

PathUse::Cost PathUse::cost(double bytes, bool in_bulk) const {
  if (protocols.empty()) return {bytes / efficiency, overhead};
  Cost best;
  double soonest = std::numeric_limits<double>::infinity();
  for (const Protocol& protocol : protocols) {
    if (bytes > protocol.most_bytes || (in_bulk && &protocol != &protocols.back())) continue;
    const double seconds = protocol.latency + bytes / (payload_rate * protocol.efficiency);
    if (seconds < soonest) {
      soonest = seconds;
      best = {bytes / (efficiency * protocol.efficiency), overhead + protocol.latency};
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
      return "the stated share of the nominal bandwidth; per message the quickest of NCCL's protocols: LL (0.6 µs, "
             "half "
             "of the bandwidth, up to 16 KiB), LL128 (1.9 µs, 94 %, up to 256 KiB), Simple (3.4 µs)";
    case spec::Transport::rdma:
      return "the stated share of the nominal bandwidth; per message the quicker of NCCL's protocols: LL (2.7 µs, half "
             "of the bandwidth), Simple (14 µs; EFA: 50 µs); over PCIe LL 0.5 µs, Simple 5.2 µs; over xGMI LL 1.2 µs, "
             "Simple "
             "2.7 µs, between its nodes, with RCCL, LL 39 µs, Simple 67 µs";
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
