#include "report/run/memory_statement.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace dadsim::report {

std::optional<Statement> statement_on_memory(const Result& result) {
  Statement statement{"memory-exceeded"};
  const RunResult* worst = nullptr;
  for (const RunResult& run : result.runs) {
    if (!run.spec.communicates || !(run.device_memory > 0) || !(run.memory.total() > run.device_memory)) continue;
    statement.subjects.push_back(run.spec.label);
    if (worst == nullptr || run.memory.total() > worst->memory.total()) worst = &run;
  }
  if (worst == nullptr) return std::nullopt;
  const auto most = std::ranges::max(worst->memory.breakdown(), {}, &std::pair<std::string, double>::second);
  return statement.with("bytes", worst->memory.total())
      .with("device_bytes", worst->device_memory)
      .with("most", most.first)
      .with("most_bytes", most.second);
}

}  // namespace dadsim::report
