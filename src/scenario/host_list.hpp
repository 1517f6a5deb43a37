#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::scenario {

inline constexpr std::size_t kMaxWorkers = 100000;
inline constexpr std::size_t kMaxHostName = 100;  ///< bytes

struct HostList {
  std::vector<std::string> hosts;
  std::string what, remedy;  ///< empty unless the text is wrong
};

/// "hub gpu-[08-11].lab" → hub gpu-08.lab gpu-09.lab gpu-10.lab gpu-11.lab: names between white space, each with at
/// most one range of numbers, both ends included; leading zeros keep their width. At most `limit` names.
HostList expand_hosts(std::string_view text, std::size_t limit);

}  // namespace dadsim::scenario
