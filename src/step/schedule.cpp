#include "step/schedule.hpp"

#include "step/assignment.hpp"
#include "step/instantiation.hpp"

namespace dadsim::step {

Schedule instantiate(const StepStructure& structure, const StepSizes& sizes, const spec::ModelShape& learned,
                     const spec::ModelShape& timed, double sample_scale, spec::Precision precision,
                     const Assignment* assignment, const Buckets& buckets, const spec::LayerRange* only) {
  Assignment fewest;
  if (assignment == nullptr && !structure.alternatives.all.empty()) {
    fewest = fewest_bytes(structure, sizes, learned, timed, sample_scale, precision);
    assignment = &fewest;
  }
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision,
                       assignment == nullptr ? Assignment{} : *assignment, buckets, only)
      .run();
}

}  // namespace dadsim::step
