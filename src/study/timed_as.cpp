#include "study/timed_as.hpp"

#include <fmt/format.h>

#include "spec/workload.hpp"
#include "support/human.hpp"

namespace dadsim::study {

std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch) {
  return fmt::format("{} ({} parameters), batch {} per worker", name, human_count(shape.parameters()), batch);
}

TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned) {
  TimedAs timed{.shape = learned, .description = learned.name, .batch = scenario.training.batch};
  if (scenario.timed_as) {
    const spec::TimedAsSpec& asked = *scenario.timed_as;
    if (!asked.file.empty()) {
      timed.shape = asked.own_shape;
      timed.description = asked.own_shape.name;
    } else if (!asked.workload.empty()) {
      timed.shape = spec::workload_registry().find(asked.workload)->shape();
      timed.description = asked.workload;
    }
    timed.batch = asked.batch;
    timed.sample_scale = static_cast<double>(asked.batch) / static_cast<double>(scenario.training.batch);
    timed.precision = asked.precision;
  }
  timed.description = describe_network(timed.description, timed.shape, timed.batch);
  if (timed.precision != spec::Precision::fp32) timed.description += fmt::format(", in {}", to_string(timed.precision));
  return timed;
}

}  // namespace dadsim::study
