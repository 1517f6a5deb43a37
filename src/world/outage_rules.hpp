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

/// One reason for a host or link to be down. Returns its changes in order, and draws only the next one in advance.
class OutageProcess {
 public:
  struct RuleChange {
    double at = 0;  ///< seconds
    bool up = true;
  };
  virtual ~OutageProcess() = default;
  /// Returns whether it is up at time 0. The caller must ask once, before next().
  virtual bool begins_up() = 0;
  /// Returns the change after the last one; none: the state does not change any more.
  virtual std::optional<RuleChange> next() = 0;
};

std::unique_ptr<OutageProcess> random_failures(const spec::RandomFailureSpec& spec, const RandomStream& random);
/// Returns an outage that begins `later` seconds after the time in `spec`, once or repeatedly.
std::unique_ptr<OutageProcess> listed_outage(const spec::OutageSpec& spec, double later = 0);
/// Returns the changes of a list. `own`: those of the host, by date.
std::unique_ptr<OutageProcess> listed_changes(std::vector<spec::AvailabilitySpec::Change> own);
std::unique_ptr<OutageProcess> profile_changes(const spec::StateProfileSpec& spec);
std::unique_ptr<OutageProcess> diurnal(const spec::AvailabilitySpec& spec, RandomStream random);
std::unique_ptr<OutageProcess> sessions(const spec::AvailabilitySpec& spec, const RandomStream& random);

/// Brings a host up again, an exponential time of mean `returns` after it went down. Computations decide when it goes
/// down.
class DropOut final : public OutageProcess {
 public:
  DropOut(double probability, double returns, const RandomStream& random)
      : probability_(probability), returns_(returns), random_(random) {}
  bool begins_up() override { return true; }
  std::optional<RuleChange> next() override;
  /// Returns the date at which the host drops out of a computation that begins at `now` and takes `seconds`; none if it
  /// stays.
  std::optional<double> within(double now, double seconds);

 private:
  double probability_, returns_;
  RandomStream random_;
  double down_at_ = 0;
  bool down_ = false;
};

/// Failures, and the hosts and links that they concern.
struct Outages {
  spec::FailureSpec what = {};
  /// Profiles of the platform; those of hosts without nodes, and of unlisted links, are ignored.
  std::vector<spec::StateProfileSpec> profiles = {};
  std::vector<std::string> hosts = {};  ///< host of each node; nodes of one host go down together
  /// Name of the cluster node of each node's host; empty if no rule names nodes.
  std::vector<std::string> on = {};
  std::vector<std::string> links = {};  ///< links of the platform, each once; empty if no rule names a link
  /// Per device, the node of the World that it belongs to. A node is up while all its devices are. Empty: every node is
  /// one device.
  std::vector<std::size_t> device_of = {};
  std::uint64_t seed = 1;
};

/// Subjects of outages: hosts in the order of their first nodes, each once, then links.
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
  DropOut* drops_out = nullptr;  ///< `what`, if computations decide when it goes down; otherwise null
};

/// Rules in order, each for all hosts or links that match. A draw depends on the seed, the host or link, the kind of
/// rule, and the number of rules of this kind for that host, but not on the order of rules. Throws
/// std::invalid_argument for a pattern that matches nothing.
std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects);

}  // namespace dadsim::world
