#pragma once

#include <functional>
#include <string_view>

#include "sim/process/child_process.hpp"
#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

// Builds a platform for examination in a forked process, because SimGrid may end its process.

namespace dadsim::sim {

inline constexpr double kLookTimeLimit = 120;  // time limit of an examination, seconds

/// Loads the platform, in the child. The platform exists until the child ends, without the engine's teardown, which is
/// not needed and could fail.
const simgrid::s4u::Engine& load_to_look(const spec::PlatformSpec& platform);

/// Runs `look` in the child, and calls `listen` in this process for each of its messages. Throws std::runtime_error
/// with SimGrid's words if the child fails.
void look_in_child(const std::function<void(const MessageSink&)>& look,
                   const std::function<void(std::string_view)>& listen);

}  // namespace dadsim::sim
