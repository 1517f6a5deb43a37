#pragma once

#include <cstdint>

namespace testbed {

/// Moves the calling process into a network namespace of its own that has nothing but a TUN device with the address
/// 10.77.0.(host + 1)/24, MTU 1500, without offloads. The namespace is gone when the last process in it has ended,
/// however it ends. Returns the file descriptor at which the frames of the device come out and go in, which does not
/// block. Throws std::runtime_error; needs CAP_SYS_ADMIN and CAP_NET_ADMIN.
int enter_namespace(std::int32_t host);

/// Real-time priority (SCHED_FIFO) for the calling thread; false if the kernel does not allow it.
bool become_real_time(int priority);

}  // namespace testbed
