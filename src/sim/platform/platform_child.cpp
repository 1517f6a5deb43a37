#include "sim/platform/platform_child.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "sim/platform/engine.hpp"
#include "sim/process/simgrid_output.hpp"

namespace dadsim::sim {

const simgrid::s4u::Engine& load_to_look(const spec::PlatformSpec& platform) {
  return *load_engine(platform).release();
}

void look_in_child(const std::function<void(const MessageSink&)>& look,
                   const std::function<void(std::string_view)>& listen) {
  const ChildOutcome outcome = run_in_child(look, listen, kLookTimeLimit);
  if (outcome.complete()) return;
  const std::string words = failure_of(outcome, {});
  throw std::runtime_error(words.empty() ? fmt::format("SimGrid {} while it built the platform", outcome.description())
                                         : words);
}

}  // namespace dadsim::sim
