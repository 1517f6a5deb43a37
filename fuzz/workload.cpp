// Fuzzes workloads that users define, in XML and CSV.
#include <cmath>

#include "content_file.hpp"
#include "scenario/elements/read_workload.hpp"
#include "support/diagnostics.hpp"
#include "target.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ContentFile file("workload");
  file.write(fuzz::text_of(data, size));
  scenario::Findings findings(file.path());
  const std::optional<scenario::OwnWorkload> workload = scenario::read_workload_file(file.path(), findings);
  fuzz::require(workload.has_value() == findings.empty(), "a workload, or what is wrong with it");
  if (!workload) return 0;
  fuzz::require(workload->dataset_size >= 0, "a data set is not smaller than none");
  for (const spec::LayerShape& layer : workload->shape.layers) {
    fuzz::require(
        layer.in >= 0 && layer.out >= 0 && layer.parameters >= 0 && layer.rows_per_sample > 0 && layer.sequential > 0,
        "sizes of layers are not negative");
    fuzz::require(std::isfinite(layer.forward_macs_per_sample) && layer.forward_macs_per_sample >= 0 &&
                      std::isfinite(layer.outputs_per_sample) && layer.outputs_per_sample >= 0,
                  "what a layer computes is finite");
  }
  return 0;
}
