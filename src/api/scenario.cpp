#include "api/call.hpp"
#include "api/states.hpp"
#include "scenario/document/load.hpp"
#include "study/results/transfer.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::api::inline v1 {

Scenario Scenario::load(const std::string& path, const Settings& settings) {
  auto state = std::make_shared<State>();
  as_a_call({}, [&] {  // a child process examines the platform
    state->scenario = scenario::load_scenario(path, overrides_of(settings), study::make_catalog());
  });
  return Scenario(std::move(state));
}

Scenario::Scenario(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

const std::string& Scenario::name() const noexcept { return state_->scenario.name; }
std::uint64_t Scenario::seed() const noexcept { return state_->scenario.seed; }
std::uint64_t Scenario::hash() const noexcept { return state_->scenario.hash; }

std::vector<std::string> Scenario::runs() const {
  std::vector<std::string> labels;
  for (const spec::RunSpec& run : state_->scenario.runs) labels.push_back(run.label);
  return labels;
}

std::vector<std::string> Scenario::warnings() const {
  std::vector<std::string> warnings;
  as_a_call({}, [&] { warnings = study::warnings_of(state_->scenario); });
  return warnings;
}

std::string Scenario::xml() const {
  std::string text;
  with_errors_of_ours([&] { text = print_scenario(state_->scenario); });
  return text;
}

}  // namespace dadsim::api::inline v1
