#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// Sizes of a sweep in bytes, as nccl-tests write them: "8", "4KB", "1.5M", "1GiB" (units are powers of 1024, small
/// letters do as well), ranges "1KB:1GB" whose sizes double, "1KB:1GB:4" whose sizes are four times the one before, and
/// lists of both, "1MB,4MB". Throws UsageError.
std::vector<double> parse_byte_sizes(const std::string& text);

inline constexpr std::size_t kMostSizes = 1000;
inline constexpr double kLargestSize = 1125899906842624.0;  ///< bytes: 1 PiB

}  // namespace dadsim::cli
