#pragma once

#include <cstdint>

namespace testbed {

/// Moves the calling process into a new network namespace. Its only device is a TUN device with the address
/// 10.77.0.(host + 1)/24, MTU 1500, without offloads. The namespace ends with its last process, however that ends.
/// Returns a non-blocking file descriptor that reads and writes the device's frames. Throws std::runtime_error; needs
/// CAP_SYS_ADMIN and CAP_NET_ADMIN.
int enter_namespace(std::int32_t host);

/// Gives the calling thread real-time priority (SCHED_FIFO); returns false if the kernel does not allow it.
bool become_real_time(int priority);

}  // namespace testbed
