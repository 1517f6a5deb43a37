#pragma once

#include <cstdint>

namespace testbed {

/// Moves the calling process into a new network namespace, which ends with its last process, however this ends. Its
/// only device is a TUN device with the address 10.77.0.(host + 1)/24 and an MTU of 1500, without offloads. Returns a
/// non-blocking file descriptor for reading and writing the device's frames. Throws std::runtime_error; requires
/// CAP_SYS_ADMIN and CAP_NET_ADMIN.
int enter_namespace(std::int32_t host);

/// Gives the calling thread real-time priority (SCHED_FIFO). Returns false if the kernel refuses.
bool become_real_time(int priority);

}  // namespace testbed
