#include "study/setting/network_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "estimate/convergence.hpp"
#include "estimate/critical_batch.hpp"
#include "spec/workload.hpp"
#include "study/setting/timed_as.hpp"

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

report::StudiedSize size_of(const spec::ModelShape& shape, double batch) {
  report::StudiedSize size;
  size.parameters = static_cast<double>(shape.parameters());
  size.batch = std::llround(batch);
  double factors = 0;
  double gradients = 0;
  for (const spec::LayerShape& layer : shape.layers) {
    if (!layer.has_outer_product()) continue;
    const auto in = static_cast<double>(layer.in);
    const auto out = static_cast<double>(layer.out);
    factors += batch * static_cast<double>(layer.rows_per_sample) * (in + out);
    gradients += in * out;
  }
  size.rows_per_width = gradients > 0 ? factors / gradients : std::numeric_limits<double>::quiet_NaN();
  return size;
}

std::vector<double> decades_of(const report::StudiedSize& size, const std::vector<spec::SizeKind>& kinds) {
  std::vector<double> decades;
  for (const spec::SizeKind kind : kinds) decades.push_back(std::log10(size.of(kind)));
  return decades;
}

bool are_known(const std::vector<double>& decades) {
  return std::ranges::all_of(decades, [](double one) { return std::isfinite(one); });
}

report::StudiedSize size_of_workload(const scenario::Scenario& scenario) {
  const TimedAs timed = timed_as_of(scenario, {});
  report::StudiedSize size =
      size_of(timed.shape, static_cast<double>(timed.batch) * static_cast<double>(scenario.workers.size()));
  const spec::Workload* workload =
      scenario.timed_as->file.empty() ? spec::workload_registry().find(scenario.timed_as->workload) : nullptr;
  if (workload == nullptr) return size;
  if (const std::optional<estimate::BatchLaw> law = estimate::fit_batch_law(estimate::published_batches(*workload)))
    size.critical_batch = law->critical;
  return size;
}

}  // namespace dadsim::study
