#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/elements/read.hpp"

namespace dadsim::scenario {

class DeclaredHosts;

inline constexpr std::int64_t kMaxHosts = 100000;
inline constexpr std::size_t kMaxClusterName = 40;  ///< bytes, so that names of hosts stay below kMaxHostName

/// <platform>: a file of either kind, or a platform declared inside. Nullopt if anything is wrong with it.
std::optional<spec::PlatformSpec> read_platform(const Element& element, const ReadContext& context);

/// A platform file of SimGrid (<platform>), which its own parser reads later, or one of ours (<cluster-platform>),
/// which is read and checked here. What is wrong goes to the findings of the context, which are those of that file.
std::optional<spec::PlatformSpec> read_platform_file(const ReadContext& context);

// The clusters; the files follow.
spec::GpuClusterSpec read_gpu_cluster(const Element& element, const ReadContext& context);
spec::FederationSpec read_federation(const Element& element, const ReadContext& context);
spec::WanSpec read_wan(const Element& element, const ReadContext& context);

/// A name that prefixes those of hosts: no white space and no brackets, which lists of hosts need for themselves.
/// Required; empty with a finding.
std::string read_host_prefix(const Node& node, const char* attribute, const std::string& remedy);
/// The name of a cluster; empty if it has none.
std::string read_cluster_name(const Node& node);

/// The pairs given between the ends (regions or clusters) of those names, each direction at most once.
class GivenPairs {
 public:
  /// Reads every <pair> below `parent`; `noun` says what the ends are.
  GivenPairs(const Node& parent, std::vector<std::string> ends, const std::string& noun, const ReadContext& context);

  std::optional<spec::WanSpec::Pair>& at(std::size_t from, std::size_t to) { return pairs_[from * ends_.size() + to]; }
  /// Whether a pair has ends that are unknown: what is missing may be that one.
  bool unclear() const { return unclear_; }
  const std::vector<std::string>& ends() const { return ends_; }

  /// All pairs in the order of the ends.
  std::vector<spec::WanSpec::Pair> take() const;

 private:
  void read(const Element& element, const std::string& noun, const ReadContext& context);

  std::vector<std::string> ends_;
  std::vector<std::optional<spec::WanSpec::Pair>> pairs_;  ///< from × to
  bool unclear_ = false;
};

/// "no numbers from 'a' to 'b'; add <pair …/>" for what is missing between two ends, if anything is.
struct MissingPair {
  std::string what, remedy;  ///< empty if nothing is
};
MissingPair missing_between(GivenPairs& pairs, std::size_t a, std::size_t b);

/// What if links were faster or slower.
std::vector<spec::LinkChange> read_changes(const Node& platform, const ReadContext& context);
// What changes while time passes.
std::vector<spec::PlatformSpec::Profile> read_profiles(const Node& platform, const ReadContext& context);
/// `given`: the platform; `hosts`: of a declared one, or nullptr where they are not known.
std::vector<spec::PlatformSpec::Background> read_background(const Node& platform, const spec::PlatformSpec& given,
                                                            const DeclaredHosts* hosts, const ReadContext& context);

}  // namespace dadsim::scenario
