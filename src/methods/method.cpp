#include "methods/method.hpp"

#include <algorithm>

namespace dadsim::methods {

spec::ParameterValues default_parameters(const MethodInfo& info) {
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : info.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

spec::RunSpec run_of(const MethodInfo& info, const spec::ParameterValues& given) {
  spec::RunSpec run;
  run.algorithm = run.label = info.name;
  run.parameters = default_parameters(info);
  for (const auto& [name, value] : given) run.parameters[name] = value;
  return run;
}

RunFaults faults_of(const MethodInfo& info, const RunFacts& facts) {
  return info.check ? info.check(facts) : RunFaults{};
}

bool has_own_layers(const MethodInfo& info, const spec::RunSpec& run) {
  return std::ranges::any_of(info.statistics, [&](const LayerStatistic& one) {
    return one.own_layers && std::ranges::find(run.share, one.name, &spec::ShareRule::statistic) != run.share.end();
  });
}

bool is_lossy(const MethodInfo& info, const std::string& statistic) {
  const auto found = std::ranges::find(info.statistics, statistic, &LayerStatistic::name);
  return found != info.statistics.end() && !found->exact;
}

}  // namespace dadsim::methods
