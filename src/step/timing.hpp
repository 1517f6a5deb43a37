#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::step {

/// A resource on the critical path of a step.
struct Bound {
  /// Name of a link, of the host of a device, or of a route whose latency counts; empty of overhead and overlap.
  std::string resource;
  /// "bandwidth", "latency", "compute", "framework", "overhead": software of collectives, or, over TCP, "queueing":
  /// windows, losses and repair. "overlap": without any one of these another one takes that time.
  std::string kind;
  double seconds = 0;       ///< of the critical path, mean per step
  double share = 0;         ///< of the step, 0…1
  std::string device = {};  ///< kind of the device that computes; empty of what computes nothing
};
/// "site-1 (rtx-3090)", "hub-down".
std::string name_of(const Bound& bound);

/// What the simulation says of one step.
struct StepTiming {
  double seconds = 0;                  ///< until the last worker is done
  double compute_seconds = 0;          ///< the compute stream of the worker that ends last, busy
  double exposed_seconds = 0;          ///< the same stream, standing still for the network or for others
  std::vector<double> bytes_sent;      ///< per node: workers, then the aggregator if it is used
  std::vector<double> bytes_received;  ///< per node
  std::vector<Bound> bounds;           ///< the critical path by resource, longest first; seconds add up to the step
  std::vector<double> busy_seconds;    ///< per node: its compute stream, computing
  /// The part of compute_seconds that an algorithm adds to a plain step (factorising, merging, adding up).
  double compression_seconds = 0;
  /// The part of exposed_seconds in which the stream waits for a collective that not all of those it gets something
  /// from have issued yet. Whatever else a wait takes is the network's: the transfer itself, and transfers that are
  /// before it in line. At a star all the way up and what the aggregator computes are waiting, until it sends.
  double waiting_seconds = 0;
};

/// What a link of the platform, in one direction, carried for the training.
struct LinkUse {
  std::string link;           ///< name in the platform
  std::string link_class;     ///< of the catalogue; may be empty
  double bandwidth = 0;       ///< byte/s, nominal; the last, where it changes over time
  double latency = 0;         ///< seconds, the same
  double bytes_per_step = 0;  ///< of payload, in a mean step
  /// Time that its transfers would take at full bandwidth, one after the other, ÷ time of the steps: with headers,
  /// protocols, losses. Above 1 where transfers go on after the last worker is done, or on a fat pipe.
  double busy_share = 0;
};

/// How the network was simulated.
struct NetworkUse {
  std::string fidelity;                        ///< "message", "flow" or "closed-form"
  std::vector<Statement> fidelity_notes = {};  ///< why, where that is not what was asked for
  /// What collectives were carried out as.
  struct Collective {
    std::string kind, algorithm;
    double least_bytes = 0, most_bytes = 0;  ///< payload of a worker
    double count = 0;                        ///< in all steps that were simulated
    std::optional<Statement> quicker = {};  ///< of the largest: what of the devices' library is quicker than its choice
  };
  std::vector<Collective> collectives;
  /// Kinds of link that messages used.
  struct LinkClass {
    std::string name;       ///< of the catalogue; may be empty
    std::string transport;  ///< with what it does to the nominal numbers
    std::string model;
    double bandwidth = 0;  ///< byte/s, nominal
    double efficiency = 1;
    double links = 0;        ///< directions of them
    double queue_bytes = 0;  ///< the least in front of one; transport "tcp" alone
  };
  std::vector<LinkClass> links;
  double messages = 0;  ///< that were simulated one by one
  /// The sampling of steps that differ: some were simulated, and the others interpolated between them by their bytes.
  struct Sampling {
    double steps = 0;       ///< that differ
    double simulated = 0;   ///< of them
    double step_error = 0;  ///< root mean square of what one of the others is off by ÷ the mean step; estimated
    double mean_error = 0;  ///< standard error of the mean step ÷ the mean step; estimated
  };
  std::optional<Sampling> sampling;  ///< nothing: every step that differs was simulated
  std::vector<LinkUse> link_use;     ///< the busiest first, most_links at most
  double links_used = 0;             ///< directions of links that carried something; all of them, also those not listed

  static constexpr std::size_t kMostLinks = 4096;
};

}  // namespace dadsim::step
