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

}  // namespace dadsim
