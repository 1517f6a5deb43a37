#include "step/schedule.hpp"

#include "step/choose.hpp"
#include "step/instantiation.hpp"

namespace dadsim::step {

Schedule instantiate(const StepStructure& structure, const StepSizes& sizes, const spec::ModelShape& learned,
                     const spec::ModelShape& timed, double sample_scale, spec::Precision precision, const Taken* taken,
                     const Buckets& buckets, const spec::LayerRange* only) {
  Taken fewest;
  if (taken == nullptr && !structure.choices.alternatives.empty()) {
    fewest = fewest_bytes(structure, sizes, learned, timed, sample_scale, precision);
    taken = &fewest;
  }
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision, taken == nullptr ? Taken{} : *taken,
                       buckets, only)
      .run();
}

std::vector<LayerCosts> costs_of_alternatives(const StepStructure& structure, const StepSizes& sizes,
                                              const spec::ModelShape& learned, const spec::ModelShape& timed,
                                              double sample_scale, spec::Precision precision, const Price& price) {
  if (structure.choices.alternatives.empty()) return {};
  return Instantiation(structure, sizes, learned, timed, sample_scale, precision, {}).costs(price);
}

}  // namespace dadsim::step
