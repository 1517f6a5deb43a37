#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::step {

/// A resource on the critical path of a step.
struct Bound {
  /// Name of a link, of a device's host, or of a route whose latency counts; empty for overhead and overlap.
  std::string resource;
  /// "bandwidth", "latency", "compute", "framework", "overhead" (software of collectives) or, over TCP, "queueing"
  /// (windows, losses and repair). "overlap": time that another resource would take in place of any removed one.
  std::string kind;
  double seconds = 0;       ///< seconds of the critical path, mean per step
  double share = 0;         ///< share of the step, 0…1
  std::string device = {};  ///< kind of the computing device; empty otherwise
};
/// Returns for example "site-1 (rtx-3090)", "hub-down".
std::string name_of(const Bound& bound);

/// Result of simulating one step.
struct StepTiming {
  double seconds = 0;              ///< until the last worker is done
  double compute_seconds = 0;      ///< busy compute stream of the worker that ends last
  double exposed_seconds = 0;      ///< compute stream of the worker that ends last, blocked by others or the network
  std::vector<double> bytes_sent;  ///< per node: workers, then the aggregator if it is used
  std::vector<double> bytes_received;  ///< per node
  std::vector<Bound> bounds;           ///< the critical path by resource, longest first; seconds add up to the step
  std::vector<double> busy_seconds;    ///< per node: computing time of its compute stream
  /// The part of compute_seconds that an algorithm adds to a plain step (factorising, merging, adding up).
  double compression_seconds = 0;
  /// Part of exposed_seconds that waits for a collective which some of its senders have not issued yet. The rest of a
  /// wait belongs to the network: the transfer itself, and transfers queued before it. At a star the whole way up and
  /// the aggregator's computations count as waiting, until it sends.
  double waiting_seconds = 0;
};

/// Traffic of a link of the platform, in one direction, for the training.
struct LinkUse {
  std::string link;           ///< name in the platform
  std::string link_class;     ///< class in the catalogue; may be empty
  double bandwidth = 0;       ///< byte/s, nominal; the last value if it changes over time
  double latency = 0;         ///< seconds, likewise
  double bytes_per_step = 0;  ///< payload in a mean step
  /// Time that its transfers would take at full bandwidth, one after the other, ÷ time of the steps: with headers,
  /// protocols, losses. Above 1 if transfers continue after the last worker is done, or on a fat pipe.
  double busy_share = 0;
};

/// Settings and counts of the network simulation.
struct NetworkUse {
  std::string fidelity;                        ///< "message", "flow" or "closed-form"
  std::vector<Statement> fidelity_notes = {};  ///< reason, if it is not what was asked for
  /// Collectives that were carried out.
  struct Collective {
    std::string kind, algorithm;
    double least_bytes = 0, most_bytes = 0;  ///< payload of a worker
    double count = 0;                        ///< number in all simulated steps
    std::optional<Statement> quicker = {};   ///< for the largest: an alternative quicker than its library's choice
  };
  std::vector<Collective> collectives;
  /// Kind of link that messages used.
  struct LinkClass {
    std::string name;       ///< class in the catalogue; may be empty
    std::string transport;  ///< "plain", "tcp", "rdma" or "nvlink"
    std::string model;      ///< effect of the transport on the nominal numbers
    double bandwidth = 0;   ///< byte/s, nominal
    double efficiency = 1;
    double links = 0;        ///< directions of links
    double queue_bytes = 0;  ///< least queue before one; only for transport "tcp"
  };
  std::vector<LinkClass> links;
  double messages = 0;  ///< messages simulated individually
  /// Sampling of differing steps: some were simulated, the others interpolated by their bytes.
  struct Sampling {
    double steps = 0;       ///< number of differing steps
    double simulated = 0;   ///< simulated ones
    double step_error = 0;  ///< root mean square error of the others ÷ the mean step; estimated
    double mean_error = 0;  ///< standard error of the mean step ÷ the mean step; estimated
  };
  std::optional<Sampling> sampling;  ///< none: every differing step was simulated
  std::vector<LinkUse> link_use;     ///< the busiest first, kMostLinks at most
  double links_used = 0;             ///< directions of all links that carried something, listed or not

  static constexpr std::size_t kMostLinks = 4096;
};

}  // namespace dadsim::step
