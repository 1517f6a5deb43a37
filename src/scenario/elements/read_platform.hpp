#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/elements/read.hpp"

namespace dadsim::scenario {

class DeclaredHosts;

inline constexpr std::int64_t kMaxHosts = 100000;
inline constexpr std::size_t kMaxClusterName = 40;  ///< longest prefix in bytes, so that host names stay below
                                                    ///< kMaxHostName

/// Reads <platform>: a file of either kind, or a declared platform. Returns nullopt after an error.
std::optional<spec::PlatformSpec> read_platform(const Element& element, const ReadContext& context);

/// Reads a platform file: SimGrid's (<platform>), which SimGrid parses later, or ours (<cluster-platform>), which is
/// read and checked here. Errors go to the findings of the context, which belong to this file.
std::optional<spec::PlatformSpec> read_platform_file(const ReadContext& context);

// Kinds of clusters, in the order of the files.
spec::GpuClusterSpec read_gpu_cluster(const Element& element, const ReadContext& context);
spec::FederationSpec read_federation(const Element& element, const ReadContext& context);
spec::WanSpec read_wan(const Element& element, const ReadContext& context);

/// Reads a required prefix of host names: no white space, and no brackets, which mark ranges in lists of hosts. Returns
/// an empty text, with a finding, if it is missing or wrong.
std::string read_host_prefix(const Node& node, const char* attribute, const std::string& remedy);
/// Returns the name of a cluster; empty if it has none.
std::string read_cluster_name(const Node& node);

/// Reads the pairs given between named ends (regions or clusters), each direction at most once.
class GivenPairs {
 public:
  /// Reads every <pair> below `parent`; `noun` names the kind of the ends.
  GivenPairs(const Node& parent, std::vector<std::string> ends, const std::string& noun, const ReadContext& context);

  std::optional<spec::WanSpec::Pair>& at(std::size_t from, std::size_t to) { return pairs_[from * ends_.size() + to]; }
  /// Returns whether a pair has an unknown end. Such a pair may be a misspelling of a missing one.
  bool unclear() const { return unclear_; }
  const std::vector<std::string>& ends() const { return ends_; }

  /// Returns all pairs in the order of the ends.
  std::vector<spec::WanSpec::Pair> take() const;

 private:
  void read(const Element& element, const std::string& noun, const ReadContext& context);

  std::vector<std::string> ends_;
  std::vector<std::optional<spec::WanSpec::Pair>> pairs_;  ///< pairs of ends, from × to
  bool unclear_ = false;
};

/// Fault and remedy for a pair of ends without numbers, e.g. "<pair> from 'a' to 'b' is missing" and "add <pair …/>".
struct MissingPair {
  std::string what, remedy;  ///< fault and remedy; empty: no pair is missing
};
MissingPair missing_between(GivenPairs& pairs, std::size_t a, std::size_t b);

/// Reads <change>: links that become faster or slower.
std::vector<spec::LinkChange> read_changes(const Node& platform, const ReadContext& context);
// Reads <profile>: links that vary over time.
std::vector<spec::PlatformSpec::Profile> read_profiles(const Node& platform, const ReadContext& context);
/// Reads <background>. `given`: the platform; `hosts`: those of a declared one, or nullptr if unknown.
std::vector<spec::PlatformSpec::Background> read_background(const Node& platform, const spec::PlatformSpec& given,
                                                            const DeclaredHosts* hosts, const ReadContext& context);

}  // namespace dadsim::scenario
