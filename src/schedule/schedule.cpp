#include "schedule/schedule.hpp"

#include "schedule/assignment.hpp"
#include "schedule/instantiation.hpp"

namespace dadsim::schedule {

Schedule instantiate(const step::StepStructure& structure, const step::StepSizes& sizes,
                     const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                     spec::Precision precision, const step::Assignment* assignment, const Buckets& buckets,
                     const spec::LayerRange* only) {
  step::Assignment fewest;
  if (assignment == nullptr && !structure.alternatives.all.empty()) {
    fewest = fewest_bytes(structure, sizes, learned, timed, sample_scale, precision);
    assignment = &fewest;
  }
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision,
                       assignment == nullptr ? step::Assignment{} : *assignment, buckets, only)
      .run();
}

}  // namespace dadsim::schedule
