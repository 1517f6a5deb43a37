#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "world/outage_rules.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// A World whose hosts and links go down and come up as a specification says: at listed times, or at times drawn from
/// the seed by Purpose::outages, host or link, and rule. Only the next change of each is drawn, so that memory grows
/// with the hosts and not with the time.
///
/// A host is up where no rule says that it is down. What is down at time 0 is so before anything else happens: its
/// event is the first. The World's own timers never reach the caller. next() gives nothing where the caller has nothing
/// under way and no host will change any more: rules that take turns may keep one down for good. Checkpoints are the
/// EventLoop's (EventLoop::set_checkpoints).
class UnreliableWorld final : public World {
 public:
  /// Throws std::invalid_argument for a pattern that fits nothing.
  UnreliableWorld(World& inner, Outages outages);

  Activity compute(Node node, const Work& work) override;
  Activity send(Node from, Node to, double bytes) override;
  Activity timer(double seconds) override;
  void cancel(Activity activity) override;
  void set_host(Node node, bool up) override;
  void set_link(const std::string& link, bool up) override { inner_.set_link(link, up); }
  bool is_up(Node node) const override { return inner_.is_up(node); }
  double seconds_of(Node node, const Work& work) override { return inner_.seconds_of(node, work); }
  std::optional<Event> next() override;
  double now() const override { return inner_.now(); }

  /// Whether all hosts and links are up.
  bool is_whole() const;
  /// Links that some rule is about.
  std::size_t failing_links() const;
  std::int64_t link_outages() const { return link_outages_; }
  std::int64_t drop_outs() const { return drop_outs_; }

 private:
  /// A host with its nodes, or a link.
  struct OutageSubject {
    std::string name;
    std::vector<Node> nodes;  ///< none: a link
    std::vector<std::size_t> processes = {};
    int down = 0;  ///< how many processes say that it is
  };
  struct SubjectProcess {
    std::size_t subject = 0;
    bool drops_out = false;
    std::unique_ptr<OutageProcess> what = {};
    OutageProcess::RuleChange next = {};
    bool up = true;  ///< what it says now
  };

  void add(OutageRule rule);
  void schedule(std::size_t process, OutageProcess::RuleChange change);
  void go_on(std::size_t process);
  void pass_what_nobody_sees(std::size_t subject);
  void forget(const OutageSubject& host);
  void carry_out();
  void arm();
  void change(OutageSubject& subject, bool up);
  void ended(Activity activity);

  World& inner_;
  std::vector<OutageSubject> subjects_;  ///< hosts, then links
  std::vector<std::size_t> subject_of_;  ///< per node
  std::size_t hosts_ = 0;                ///< of the subjects
  std::vector<SubjectProcess> processes_;
  std::set<std::pair<double, std::size_t>> dates_;  ///< of the next change of each process
  std::size_t host_dates_ = 0;                      ///< of them, of hosts
  Activity alarm_ = 0;
  double alarm_at_ = 0;
  std::int64_t underway_ = 0;  ///< of the caller
  std::int64_t reported_ = 0;  ///< changes of hosts that inner_ has yet to tell
  struct DropsOut {
    DropOut* what = nullptr;
    std::size_t process = 0;
  };
  std::vector<DropsOut> drops_out_;                         ///< per node
  std::unordered_map<Activity, std::size_t> in_the_midst_;  ///< computations that a process cuts off
  std::int64_t link_outages_ = 0, drop_outs_ = 0;
};

}  // namespace dadsim::world
