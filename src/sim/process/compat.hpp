#pragma once

// clang-format off
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>  // s4u.hpp must be included before this header
// clang-format on

#include <functional>
#include <string>

// Differences between SimGrid 3.32 and later versions, and the short name of its interface.

namespace dadsim::sim {
namespace sg4 = simgrid::s4u;
}

namespace dadsim::sim::compat {

/// Starts an actor. Actor::create is deprecated from 4.0 on; init and start exist in all versions.
inline simgrid::s4u::ActorPtr add_actor(const std::string& name, simgrid::s4u::Host* host,
                                        const std::function<void()>& code) {
  return simgrid::s4u::Actor::init(name, host)->start(code);
}

/// Starts an activity. vetoable_start was removed in 3.34, in which start itself can be deferred.
template <class ActivityPtr>
void start(const ActivityPtr& activity) {
#if SIMGRID_VERSION >= 33400
  activity->start();
#else
  activity->vetoable_start();
#endif
}

/// Names of two settings: the precision of dates in seconds, and of remaining work relative to the smallest unit.
#if SIMGRID_VERSION >= 33400
inline constexpr const char* timing_precision = "precision/timing";
#else
inline constexpr const char* timing_precision = "surf/precision";
#endif

/// Kind of contexts for actors. Sanitizers do not understand stacks that are switched without instrumentation. They
/// understand threads, but each switch between them passes through the kernel.
#if (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)) && !defined(DADSIM_INSTRUMENTED_SIMGRID)
inline constexpr const char* context_factory = "thread";
#else
inline constexpr const char* context_factory = "raw";
#endif

}  // namespace dadsim::sim::compat
