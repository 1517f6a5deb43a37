#include "report/words/metric.hpp"

namespace dadsim::report {

const char* to_string(Metric metric) {
  switch (metric) {
    case Metric::time_at_scale:
      return "time-at-scale";
    case Metric::time_per_step:
      return "time-per-step";
    case Metric::throughput:
      return "throughput";
    case Metric::time_to_target:
      return "time-to-target";
  }
  return "";
}

}  // namespace dadsim::report
