#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

inline constexpr std::size_t kMaxWorkers = 100000;
inline constexpr std::size_t kMaxHostName = 100;  ///< bytes of a host's name, at most

struct HostList {
  std::vector<std::string> hosts;
  std::string what, remedy;  ///< description of the fault; empty: the text is right
};

/// Expands "hub gpu-[08-11].lab" to hub gpu-08.lab gpu-09.lab gpu-10.lab gpu-11.lab: names between white space, each
/// with at most one range of numbers, both ends included; leading zeros keep their width.
///
/// A name with blanks stands in quotation marks ("'Edge 1' \"Edge [2-3]\"") or has a backslash before each (Edge\ 1),
/// and before literal brackets and stars. A * matches anything among the names of `all` that are not yet in the list;
/// without `all`, or without a match, it is literal. Returns at most `limit` names.
HostList expand_hosts(std::string_view text, std::size_t limit,
                      const std::function<std::vector<std::string>()>& all = nullptr);

/// Returns the words of such a list, without quotation marks and backslashes.
std::vector<std::string> split_host_words(std::string_view text);

/// Returns the name in a text that may contain blanks: without quotation marks around all of it and without
/// backslashes.
std::string plain_name(std::string_view text);

/// Returns a name in the form that expand_hosts() reads.
std::string in_host_list(const std::string& name);

/// Returns the hubs of a federation, alone or among clusters. A hub distributes parameters and has no worker unless it
/// is named as one.
std::vector<std::string> hubs_of(const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
