#include "study/setting/tokens_per_sample.hpp"

#include <algorithm>
#include <string>

#include "spec/workload.hpp"

namespace dadsim::study {

std::optional<double> tokens_per_sample(const spec::TimedAsSpec& timed) {
  constexpr const char* kSequence = "sequence";
  if (timed.workload.empty()) return std::nullopt;
  const auto& sizes = spec::workload_registry().at(timed.workload).parameters;
  const auto size = std::ranges::find(sizes, kSequence, &spec::ParameterSpec::name);
  if (size == sizes.end()) return std::nullopt;
  const auto said = timed.sizes.find(kSequence);
  return std::stod(said != timed.sizes.end() ? said->second : size->default_value);
}

}  // namespace dadsim::study
