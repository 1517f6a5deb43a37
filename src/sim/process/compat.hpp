#pragma once

// clang-format off
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>  // does not stand alone
// clang-format on

#include <functional>
#include <string>

// What differs between SimGrid 3.32 and later versions, and nothing else.

namespace dadsim::sim::compat {

/// Actor::create is deprecated from 4.0 on; init and start exist everywhere.
inline simgrid::s4u::ActorPtr add_actor(const std::string& name, simgrid::s4u::Host* host,
                                        const std::function<void()>& code) {
  return simgrid::s4u::Actor::init(name, host)->start(code);
}

/// vetoable_start is gone from 3.34 on, where start itself can be deferred.
template <class ActivityPtr>
void start(const ActivityPtr& activity) {
#if SIMGRID_VERSION >= 33400
  activity->start();
#else
  activity->vetoable_start();
#endif
}

/// Names of the two precisions: of dates in seconds, and of remaining work relative to the smallest unit.
#if SIMGRID_VERSION >= 33400
inline constexpr const char* timing_precision = "precision/timing";
#else
inline constexpr const char* timing_precision = "surf/precision";
#endif

/// Contexts for actors: swapping stacks by hand confuses sanitizers that are not told of it, threads do not, but each
/// swap goes through the kernel.
#if (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)) && !defined(DADSIM_INSTRUMENTED_SIMGRID)
inline constexpr const char* context_factory = "thread";
#else
inline constexpr const char* context_factory = "raw";
#endif

}  // namespace dadsim::sim::compat
