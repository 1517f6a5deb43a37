#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

inline constexpr std::size_t kMaxWorkers = 100000;
inline constexpr std::size_t kMaxHostName = 100;  ///< bytes

struct HostList {
  std::vector<std::string> hosts;
  std::string what, remedy;  ///< empty unless the text is wrong
};

/// "hub gpu-[08-11].lab" → hub gpu-08.lab gpu-09.lab gpu-10.lab gpu-11.lab: names between white space, each with at
/// most one range of numbers, both ends included; leading zeros keep their width. A name that holds blanks stands in
/// quotation marks ("'Edge 1' \"Edge [2-3]\"") or has a backslash before each (Edge\ 1), and before brackets and stars
/// of its own. A * stands for anything in the names that `all` gives, those that the list has already left out; without
/// `all`, or where it gives none, for itself. At most `limit` names.
HostList expand_hosts(std::string_view text, std::size_t limit,
                      const std::function<std::vector<std::string>()>& all = nullptr);

/// The words of a list of hosts, as above, without their quotation marks and backslashes.
std::vector<std::string> split_host_words(std::string_view text);

/// The name that a text says which may hold blanks of its own: without quotation marks around all of it and without
/// backslashes.
std::string plain_name(std::string_view text);

/// A name as expand_hosts reads it.
std::string in_host_list(const std::string& name);

/// The hubs of a federation, alone or among clusters, which hand parameters around: no workers unless they are named.
std::vector<std::string> hubs_of(const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
