#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spec/failure_specification.hpp"
#include "support/random.hpp"

namespace dadsim::world {

/// A rule that takes a host or link down. Returns its changes in order, and draws only the next one in advance.
class OutageProcess {
 public:
  struct RuleChange {
    double at = 0;  ///< date, seconds
    bool up = true;
  };
  virtual ~OutageProcess() = default;
  /// Returns whether the host or link is up at date 0. The caller must call this once, before next().
  virtual bool begins_up() = 0;
  /// Returns the next change; none: there are no more changes.
  virtual std::optional<RuleChange> next() = 0;
};

std::unique_ptr<OutageProcess> random_failures(const spec::RandomFailureSpec& spec, const RandomStream& random);
/// Returns an outage that begins `later` seconds after the date in `spec`, once or repeatedly.
std::unique_ptr<OutageProcess> listed_outage(const spec::OutageSpec& spec, double later = 0);
/// Returns the process of listed changes. `own`: the host's changes, sorted by date.
std::unique_ptr<OutageProcess> listed_changes(std::vector<spec::AvailabilitySpec::Change> own);
std::unique_ptr<OutageProcess> profile_changes(const spec::StateProfileSpec& spec);
std::unique_ptr<OutageProcess> diurnal(const spec::AvailabilitySpec& spec, RandomStream random);
std::unique_ptr<OutageProcess> sessions(const spec::AvailabilitySpec& spec, const RandomStream& random);

/// Brings a host up again after an exponential time with mean `returns`. Its outages begin during computations, at the
/// date from within().
class DropOut final : public OutageProcess {
 public:
  DropOut(double probability, double returns, const RandomStream& random)
      : probability_(probability), returns_(returns), random_(random) {}
  bool begins_up() override { return true; }
  std::optional<RuleChange> next() override;
  /// Returns the date at which the host drops out of a computation of `seconds` that begins at `now`; none if it does
  /// not.
  std::optional<double> within(double now, double seconds);

 private:
  double probability_, returns_;
  RandomStream random_;
  double down_at_ = 0;
  bool down_ = false;
};

/// Specification of failures, and the hosts and links that they apply to.
struct Outages {
  spec::FailureSpec what = {};
  /// Profiles of the platform. Profiles of hosts without nodes, and of links that are not listed, are ignored.
  std::vector<spec::StateProfileSpec> profiles = {};
  std::vector<std::string> hosts = {};  ///< host of each node; nodes of one host go down together
  /// Name of the cluster node of each node's host; empty if no rule names nodes.
  std::vector<std::string> on = {};
  std::vector<std::string> links = {};  ///< links of the platform, each once; empty if no rule names a link
  /// World node of each device. A node is up while all its devices are. Empty: every node is one device.
  std::vector<std::size_t> device_of = {};
  std::uint64_t seed = 1;
};

/// Subjects of outages: distinct hosts in the order of their first nodes, then links.
struct OutageSubjects {
  explicit OutageSubjects(const Outages& outages);
  std::vector<std::string> names;
  std::size_t hosts = 0;             ///< number of hosts among the names
  std::vector<std::string> on = {};  ///< cluster node of each host, as in Outages
  std::vector<std::size_t> of_node;  ///< host of each node
};

/// A reason for a host or a link to be down.
struct OutageRule {
  std::size_t subject = 0;
  std::unique_ptr<OutageProcess> what;
  DropOut* drops_out = nullptr;  ///< equals `what` if outages begin during computations; otherwise null
};

/// Returns the rules in order, each for all hosts or links that match. Draws depend on the seed, the host or link, the
/// kind of rule, and the index among rules of this kind for the host or link; except for random failures of hosts, also
/// on the number of rules of other kinds. They do not depend on the order of rules. Throws std::invalid_argument for a
/// pattern that matches nothing.
std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects);

}  // namespace dadsim::world
