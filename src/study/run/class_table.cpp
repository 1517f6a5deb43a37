#include "study/run/class_table.hpp"

#include "study/learning/shared_cache.hpp"

namespace dadsim::study {

report::ClassTable class_table_of(const scenario::Scenario& scenario, const Learned& learned) {
  report::ClassTable table;
  if (learned.nothing) return table;
  const std::shared_ptr<const Problem> problem = learned.shared_cache->problem(scenario, scenario.seed);
  const models::Samples& train = problem->data.train;
  if (train.labels_per_sample != 1) return table;
  const auto classes = static_cast<std::size_t>(problem->data.classes);
  table.too_many = problem->partition.size() * classes > report::ClassTable::kMostNumbers;
  if (table.too_many) return table;
  for (std::size_t site = 0; site < problem->partition.size(); ++site) {
    std::vector<std::int64_t> counts(classes, 0);
    for (const std::int32_t sample : problem->partition[site])
      ++counts.at(static_cast<std::size_t>(train.labels.at(static_cast<std::size_t>(sample))));
    table.sites.push_back(scenario.workers.at(site).host);
    table.samples.push_back(std::move(counts));
  }
  return table;
}

}  // namespace dadsim::study
