#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

inline constexpr std::size_t kMaxWorkers = 100000;
inline constexpr std::size_t kMaxHostName = 100;  ///< longest name of a host, bytes

struct HostList {
  std::vector<std::string> hosts;
  std::string what, remedy;  ///< error in the text; empty: none
};

/// Expands "hub gpu-[08-11].lab" to hub gpu-08.lab gpu-09.lab gpu-10.lab gpu-11.lab. Names are separated by white
/// space, and each has at most one range of numbers, both ends included; leading zeros keep their width.
///
/// A name with blanks needs quotation marks ("'Edge 1' \"Edge [2-3]\""), or a backslash before each blank (Edge\ 1).
/// Literal brackets and stars need a backslash too. A name with * stands for all that it matches among `all`, except
/// those already in the list; it is an error if it matches none of `all`, and literal if `all` is missing or returns
/// nothing. More than `limit` names are an error.
HostList expand_hosts(std::string_view text, std::size_t limit,
                      const std::function<std::vector<std::string>()>& all = nullptr);

/// Returns the words of a list of hosts, without quotation marks and backslashes; ranges and stars are not expanded.
std::vector<std::string> split_host_words(std::string_view text);

/// Returns the name in a text that may contain blanks, without surrounding quotation marks and without backslashes.
std::string plain_name(std::string_view text);

/// Returns a name quoted so that expand_hosts() reads it unchanged.
std::string in_host_list(const std::string& name);

/// Returns the hubs of federations. A hub distributes parameters, and has no worker unless the scenario names it as
/// one.
std::vector<std::string> hubs_of(const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
