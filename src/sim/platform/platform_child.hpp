#pragma once

#include <functional>
#include <string_view>

#include "sim/process/child_process.hpp"
#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

// Building a platform to look at it, in a forked process: SimGrid may end the one that it is in.

namespace dadsim::sim {

inline constexpr double kLookTimeLimit = 120;  // seconds

/// In the child: the platform, which stays as long as the child. To take the engine down again is not needed, and could
/// fail.
const simgrid::s4u::Engine& load_to_look(const spec::PlatformSpec& platform);

/// `look` runs in the child, `listen` here for each of its messages. Throws std::runtime_error with SimGrid's words
/// where the child does not end well.
void look_in_child(const std::function<void(const MessageSink&)>& look,
                   const std::function<void(std::string_view)>& listen);

}  // namespace dadsim::sim
