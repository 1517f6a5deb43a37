#pragma once

#include <string>
#include <vector>

namespace dadsim {

/// A resource on the critical path of a step.
struct Bound {
  std::string resource;  ///< name of a link, of a worker's device, or of a route whose latency counts
  std::string kind;      ///< "bandwidth", "latency" or "compute"
  double seconds = 0;    ///< of the critical path, mean per step
  double share = 0;      ///< of the step, 0…1
};

/// What the simulation says of one step.
struct StepTiming {
  double seconds = 0;                  ///< until the last worker is done
  double compute_seconds = 0;          ///< the compute stream of the worker that ends last, busy
  double exposed_seconds = 0;          ///< the same stream, standing still for the network or for others
  std::vector<double> bytes_sent;      ///< per node: workers, then the aggregator if it is used
  std::vector<double> bytes_received;  ///< per node
  std::vector<Bound> bounds;           ///< the critical path by resource, longest first; seconds add up to the step
};

/// How the network was simulated.
struct NetworkUse {
  std::string fidelity;       ///< "message", "flow" or "closed-form"
  std::string fidelity_note;  ///< why, where that is not what was asked for; may be empty
  /// What collectives were carried out as.
  struct Collective {
    std::string kind, algorithm;
    double least_bytes = 0, most_bytes = 0;  ///< payload of a worker
    double count = 0;                        ///< in all steps that were simulated
  };
  std::vector<Collective> collectives;
  /// Kinds of link that messages used.
  struct LinkClass {
    std::string name;       ///< of the catalogue; may be empty
    std::string transport;  ///< with what it does to the nominal numbers
    std::string model;
    double bandwidth = 0;  ///< byte/s, nominal
    double efficiency = 1;
    double links = 0;  ///< directions of them
  };
  std::vector<LinkClass> links;
  double messages = 0;  ///< that were simulated one by one
};

}  // namespace dadsim
