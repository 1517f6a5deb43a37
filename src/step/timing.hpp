#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::step {

/// A resource on the critical path of a step.
struct Bound {
  /// Name of a link, of a device's host, or of a route whose latency matters; empty for overhead and overlap.
  std::string resource;
  /// "bandwidth", "latency", "compute", "framework", "overhead" (software of collectives) or, over TCP, "queueing"
  /// (windows, losses and retransmissions). "overlap": time that would remain if any one resource were removed, because
  /// others need it too.
  std::string kind;
  double seconds = 0;       ///< seconds of the critical path, mean per step
  double share = 0;         ///< share of the step, 0…1
  std::string device = {};  ///< name of the computing device; empty for other resources
};
/// Returns for example "site-1 (rtx-3090)", "hub-down".
std::string name_of(const Bound& bound);

/// Result of simulating one step.
struct StepTiming {
  double seconds = 0;              ///< seconds until the last worker is done
  double compute_seconds = 0;      ///< seconds in which the last worker's compute stream is busy
  double exposed_seconds = 0;      ///< seconds in which the last worker's compute stream is blocked by others or the
                                   ///< network
  std::vector<double> bytes_sent;  ///< bytes of each node: workers, then the aggregator if it is used
  std::vector<double> bytes_received;  ///< bytes of each node
  std::vector<Bound> bounds;           ///< the critical path by resource, longest first; the sum is the step's seconds
  std::vector<double> busy_seconds;    ///< computing seconds of each node's compute stream
  /// Part of compute_seconds that the algorithm adds to a plain step (factorising, merging, summing).
  double compression_seconds = 0;
  /// Part of exposed_seconds that waits for a collective which some senders have not issued yet. The rest is due to the
  /// network: the transfer itself, and earlier transfers in its queue. With an aggregator, all time until it sends
  /// counts as waiting, including the gather and the aggregator's computations.
  double waiting_seconds = 0;
};

/// Traffic of a link of the platform, in one direction, over the training.
struct LinkUse {
  std::string link;           ///< name of the link in the platform
  std::string link_class;     ///< class in the catalogue; may be empty
  double bandwidth = 0;       ///< byte/s, nominal; the last value if it varies over time
  double latency = 0;         ///< seconds, nominal; the last value if it varies over time
  double bytes_per_step = 0;  ///< payload bytes in a mean step
  /// Seconds that the transfers would take in sequence at full bandwidth, with headers, protocols and losses, ÷ seconds
  /// of the steps. Above 1 if transfers continue after the last worker is done, or on a fat-pipe link.
  double busy_share = 0;
};

/// Settings and counts of the network simulation.
struct NetworkUse {
  std::string fidelity;                        ///< "message", "flow" or "closed-form"
  std::vector<Statement> fidelity_notes = {};  ///< reasons if the fidelity is not the requested one
  /// Simulated collectives of one kind and algorithm.
  struct Collective {
    std::string kind, algorithm;
    double least_bytes = 0, most_bytes = 0;  ///< smallest and largest payload of a worker, bytes
    double count = 0;                        ///< number in all simulated steps
    std::optional<Statement> quicker = {};   ///< algorithm that is faster than the library's choice, for the largest
                                             ///< collective
  };
  std::vector<Collective> collectives;
  /// A kind of link that carried messages.
  struct LinkClass {
    std::string name;       ///< class in the catalogue; may be empty
    std::string transport;  ///< "plain", "tcp", "rdma" or "nvlink"
    std::string model;      ///< effect of the transport on the nominal numbers
    double bandwidth = 0;   ///< byte/s, nominal
    double efficiency = 1;
    double links = 0;        ///< number of links, counted per direction
    double queue_bytes = 0;  ///< bytes of the smallest queue; only for transport "tcp"
  };
  std::vector<LinkClass> links;
  double messages = 0;  ///< number of messages simulated individually
  /// Sampling of distinct steps: some were simulated, and the others interpolated by their bytes.
  struct Sampling {
    double steps = 0;       ///< number of distinct steps
    double simulated = 0;   ///< number of simulated steps
    double step_error = 0;  ///< root mean square error of the other steps ÷ mean seconds of a step; estimated
    double mean_error = 0;  ///< standard error of the mean ÷ mean seconds of a step; estimated
  };
  std::optional<Sampling> sampling;  ///< none: every distinct step was simulated
  std::vector<LinkUse> link_use;     ///< sorted by busy_share, largest first; kMostLinks at most
  double links_used = 0;             ///< number of links that carried data, counted per direction, including those not
                                     ///< in link_use

  static constexpr std::size_t kMostLinks = 4096;
};

}  // namespace dadsim::step
