#include "study/setting/load_base.hpp"

#include "support/diagnostics.hpp"

namespace dadsim::study {

scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog) {
  try {
    return source.load(overrides, catalog);
  } catch (const InputError& error) {
    if (!error.is_infeasible()) throw;
    std::vector<std::string> unchecked = overrides;
    unchecked.emplace_back("workers.memory=ignore");
    try {
      return source.load(unchecked, catalog);
    } catch (const InputError&) {
      throw error;  // it was not the memory
    }
  }
}

}  // namespace dadsim::study
