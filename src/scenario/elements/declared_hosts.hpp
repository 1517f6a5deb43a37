#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

/// The hosts of a declared platform by name: finds one, or suggests what was meant.
class DeclaredHosts {
 public:
  explicit DeclaredHosts(const spec::PlatformSpec& platform);

  bool contains(const std::string& host) const { return names_.contains(host); }
  std::size_t size() const { return names_.size(); }

  /// A name that two hosts share, or an empty string.
  const std::string& twice() const { return twice_; }

  /// "did you mean 'gpu-3'?", or which there are: "hosts are gpu-[0-15] hub".
  std::string suggest(std::string_view host) const;

 private:
  /// Hosts that differ in a number alone.
  struct Pattern {
    std::string stem;
    std::string first, last;  ///< numbers; equal and empty for one host without
    std::string to_string() const;
  };

  std::unordered_set<std::string> names_;
  std::vector<Pattern> patterns_;
  std::string twice_;
};

/// Hosts of a declared platform, counted without naming them; 0 for a file.
std::int64_t count_hosts(const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
