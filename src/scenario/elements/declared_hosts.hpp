#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

/// The hosts of a declared platform by name: finds one, or suggests a similar one.
class DeclaredHosts {
 public:
  explicit DeclaredHosts(const spec::PlatformSpec& platform);

  bool contains(const std::string& host) const { return names_.contains(host); }
  std::size_t size() const { return names_.size(); }

  /// Returns a name that two hosts share, or an empty string.
  const std::string& twice() const { return twice_; }

  /// Returns "did you mean 'gpu-3'?", or a list: "hosts are gpu-[0-15] hub".
  std::string suggest(std::string_view host) const;

 private:
  /// Hosts whose names differ only in a number.
  struct Pattern {
    std::string stem;
    std::string first, last;  ///< numbers; equal and empty for one host without a number
    std::string to_string() const;
  };

  std::unordered_set<std::string> names_;
  std::vector<Pattern> patterns_;
  std::string twice_;
};

/// Returns the number of hosts of a declared platform, without building their names; 0 for a file.
std::int64_t count_hosts(const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
