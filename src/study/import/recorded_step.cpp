#include "study/import/recorded_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scenario/xml/xml_writer.hpp"
#include "support/terminal.hpp"

namespace dadsim::study {
namespace {

/// Operations of one rank in a trace, in order.
struct RankProgram {
  /// A collective or a message of the rank.
  struct TracePart {
    std::string name;
    std::string kind;                   ///< name in <recorded-step>; "send" for a message
    std::vector<std::int64_t> members;  ///< ranks, ascending; for a message: from, to
    double bytes = 0;
    std::int64_t tag = 0;
    std::uint64_t node = 0;  ///< node of the trace
  };
  struct TraceEvent {
    enum class TraceTask : std::uint8_t { compute, issue, wait, wait_for_message };
    TraceTask what = TraceTask::compute;
    std::string name;      ///< name of a computation
    double seconds = 0;    ///< duration of a computation
    std::size_t part = 0;  ///< index into `issued` or `received`
    bool operator==(const TraceEvent& other) const { return what == other.what && part == other.part; }
  };
  std::vector<TracePart> issued, received;
  std::vector<TracePart> alone;    ///< collectives of groups with this rank only
  std::vector<TraceEvent> events;  ///< a computation, possibly empty, precedes each other event and ends the list
  std::size_t host_operations = 0;
};

using formats::ChakraNode;

/// Returns the name of a collective in <recorded-step>, and the share of its bytes that a rank sends. A broadcast or
/// reduction puts half the bytes of an all-reduce on each line of a ring.
std::pair<const char*, double> kind_of(ChakraNode::Collective collective, std::size_t members) {
  const double each = 1 / static_cast<double>(members);
  switch (collective) {
    case ChakraNode::Collective::all_reduce:
    case ChakraNode::Collective::barrier:
      return {"all-reduce", 1};
    case ChakraNode::Collective::all_gather:
      return {"all-gather", 1};
    case ChakraNode::Collective::all_to_all:
      return {"all-to-all", 1};
    case ChakraNode::Collective::reduce_scatter:
    case ChakraNode::Collective::reduce_scatter_block:
    case ChakraNode::Collective::reduce:
      return {"reduce-scatter", 1};
    case ChakraNode::Collective::broadcast:
      return {"all-gather", each};
    case ChakraNode::Collective::gather:
    case ChakraNode::Collective::scatter:
      break;
  }
  throw std::runtime_error("has a gather or a scatter, which <recorded-step> does not support");
}

class ProgramWriter {
 public:
  ProgramWriter(const formats::ChakraTrace& trace, std::int64_t rank,
                const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t ranks)
      : trace_(trace), rank_(rank), groups_(groups), ranks_(ranks) {
    const auto on_device = [](const ChakraNode& node) {
      return node.type == ChakraNode::NodeType::compute && !node.on_host;
    };
    some_on_device_ = std::ranges::any_of(trace.nodes, on_device);
    some_sent_by_device_ =
        std::ranges::any_of(trace.nodes, [](const ChakraNode& node) { return sends(node) && !node.on_host; });
  }

  RankProgram write() {
    for (const std::size_t node : ordered()) visit(node);
    end_computing();
    return std::move(program_);
  }

 private:
  /// Messages that must end before a node begins, and that no earlier computation has waited for. Elements: whether
  /// received, and index into `issued` or `received`.
  using Pending = std::set<std::pair<bool, std::size_t>>;

  static bool sends(const ChakraNode& node) {
    return node.type == ChakraNode::NodeType::collective || node.type == ChakraNode::NodeType::send ||
           node.type == ChakraNode::NodeType::receive;
  }

  /// Returns whether a node is the host's call of a device operation that has a node of its own.
  bool is_call(const ChakraNode& node) const {
    if (!node.on_host) return false;
    return sends(node) ? some_sent_by_device_ : some_on_device_ && node.type == ChakraNode::NodeType::compute;
  }

  std::vector<std::size_t> ordered() {
    const std::size_t count = trace_.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!number_of_.try_emplace(trace_.nodes[i].id, i).second)
        throw std::runtime_error(fmt::format("has two nodes {}", trace_.nodes[i].id));
    }
    std::vector<std::vector<std::size_t>> followers(count);
    std::vector<std::size_t> waiting(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint64_t before : trace_.nodes[i].after) {
        const auto found = number_of_.find(before);
        if (found == number_of_.end()) continue;  // converters may omit nodes
        followers[found->second].push_back(i);
        ++waiting[i];
      }
    }
    using Next = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i) {
      if (waiting[i] == 0) ready.emplace(trace_.nodes[i].id, i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t node = ready.top().second;
      ready.pop();
      order.push_back(node);
      for (const std::size_t follower : followers[node]) {
        if (--waiting[follower] == 0) ready.emplace(trace_.nodes[follower].id, follower);
      }
    }
    if (order.size() != count) throw std::runtime_error("has nodes that depend on themselves");
    return order;
  }

  void visit(std::size_t number) {
    const ChakraNode& node = trace_.nodes[number];
    Pending pending = before(node);
    const bool call = is_call(node);
    if (call) ++program_.host_operations;
    switch (call ? ChakraNode::NodeType::other : node.type) {
      case ChakraNode::NodeType::compute:
        wait_for(pending);
        pending.clear();
        if (computing_.name.empty() || computing_.seconds == 0) computing_.name = node.name;
        computing_.seconds += node.seconds;
        check_amount(node, computing_.seconds);
        break;
      case ChakraNode::NodeType::collective:
      case ChakraNode::NodeType::send:
        issue(node, pending);
        break;
      case ChakraNode::NodeType::receive:
        receive(node, pending);
        break;
      case ChakraNode::NodeType::other:
        break;
    }
    constexpr std::size_t kMostPending = 5'000'000;  // an entry takes some 50 bytes
    pending_count_ += pending.size();
    if (pending_count_ > kMostPending)
      throw std::runtime_error(
          fmt::format("exceeds the limit of pending collectives at node {} of rank {}", node.id, rank_));
    if (!pending.empty()) pending_of_[number] = std::move(pending);
  }

  /// Checks an amount against the limit of a file of a step.
  void check_amount(const ChakraNode& node, double amount) const {
    constexpr double kMost = 1e18;
    if (amount > kMost)
      throw std::runtime_error(
          fmt::format("has node {} ('{}') at rank {} with {} seconds or bytes, above the limit of {}", node.id,
                      node.name, rank_, amount, kMost));
  }

  Pending before(const ChakraNode& node) {
    Pending all;
    for (const std::uint64_t one : node.after) {
      const auto found = number_of_.find(one);
      if (found == number_of_.end()) continue;
      const auto pending = pending_of_.find(found->second);
      if (pending == pending_of_.end()) continue;
      for (const auto& part : pending->second) {
        if (!waited_.contains(part)) all.insert(part);
      }
    }
    return all;
  }

  void end_computing() {
    computing_.what = RankProgram::TraceEvent::TraceTask::compute;
    program_.events.push_back(std::move(computing_));
    computing_ = {};
  }

  void add(RankProgram::TraceEvent::TraceTask what, std::size_t part) {
    end_computing();
    program_.events.push_back({.what = what, .name = {}, .part = part});
  }

  void wait_for(const Pending& pending) {
    using TraceTask = RankProgram::TraceEvent::TraceTask;
    for (const auto& [received, part] : pending) {
      add(received ? TraceTask::wait_for_message : TraceTask::wait, part);
      waited_.insert({received, part});
    }
  }

  /// Issues a collective or a message. Earlier collectives of the same group precede it on their communication stream;
  /// other predecessors are waited for first.
  void issue(const ChakraNode& node, Pending& pending) {
    RankProgram::TracePart part = part_of(node);
    if (part.members.size() < 2) {
      if (part.kind != "send") program_.alone.push_back(std::move(part));
      return;
    }
    Pending others;
    for (const auto& one : pending) {
      const RankProgram::TracePart& other = (one.first ? program_.received : program_.issued)[one.second];
      if (one.first || other.members != part.members || part.kind == "send") others.insert(one);
    }
    wait_for(others);
    const std::size_t number = program_.issued.size();
    program_.issued.push_back(std::move(part));
    add(RankProgram::TraceEvent::TraceTask::issue, number);
    pending = {{false, number}};
  }

  void receive(const ChakraNode& node, Pending& pending) {
    const std::int64_t to = node.destination < 0 ? rank_ : node.destination;
    if (to != rank_ || node.source < 0 || node.source >= ranks_ || node.source == rank_)
      throw std::runtime_error(fmt::format("has a message '{}' without a valid sender and receiver", node.name));
    program_.received.push_back({node.name, "send", {node.source, to}, node.bytes, node.tag, node.id});
    pending = {{true, program_.received.size() - 1}};
  }

  RankProgram::TracePart part_of(const ChakraNode& node) const {
    check_amount(node, node.bytes);
    if (node.type == ChakraNode::NodeType::send) {
      const std::int64_t from = node.source < 0 ? rank_ : node.source;
      if (from != rank_ || node.destination < 0 || node.destination >= ranks_ || node.destination == rank_)
        throw std::runtime_error(fmt::format("has a message '{}' without a valid sender and receiver", node.name));
      return {node.name, "send", {from, node.destination}, node.bytes, node.tag, node.id};
    }
    std::vector<std::int64_t> members;
    if (const auto found = groups_.find(node.group); found != groups_.end()) members = found->second;
    if (members.empty()) {
      members.resize(static_cast<std::size_t>(ranks_));
      std::iota(members.begin(), members.end(), 0);
    }
    std::ranges::sort(members);
    if (members.front() < 0 || members.back() >= ranks_)
      throw std::runtime_error(fmt::format("takes part in '{}' with rank {}, but only {} traces are given", node.name,
                                           members.front() < 0 ? members.front() : members.back(), ranks_));
    if (std::ranges::find(members, rank_) == members.end())
      throw std::runtime_error(
          fmt::format("takes part in '{}' of group '{}' without being a member", node.name, node.group));
    constexpr double kWord = 4;  // bytes of a barrier, which is simulated as a small all-reduce
    const auto [kind, share] = kind_of(node.collective, members.size());
    const double bytes = node.collective == ChakraNode::Collective::barrier ? kWord : node.bytes;
    return {node.name, kind, std::move(members), share * bytes, 0, node.id};
  }

  const formats::ChakraTrace& trace_;
  std::int64_t rank_;
  const std::map<std::string, std::vector<std::int64_t>>& groups_;
  std::int64_t ranks_;
  bool some_on_device_ = false, some_sent_by_device_ = false;
  RankProgram program_;
  RankProgram::TraceEvent computing_;
  std::unordered_map<std::uint64_t, std::size_t> number_of_;
  std::unordered_map<std::size_t, Pending> pending_of_;
  Pending waited_;
  std::size_t pending_count_ = 0;  ///< total number of entries in pending_of_
};

/// Returns the program of a rank: its nodes, ordered by their dependences, then by number. Skips nodes that neither
/// compute on a device nor send. Computations wait for their dependences; collectives of one group follow each other
/// anyway. `groups`: members of each group. Throws std::runtime_error, with a message for the user.
RankProgram program_of_rank(const formats::ChakraTrace& trace, std::int64_t rank,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t ranks) {
  return ProgramWriter(trace, rank, groups, ranks).write();
}

using TraceEvent = RankProgram::TraceEvent;
using TracePart = RankProgram::TracePart;
using Members = std::vector<std::int64_t>;

/// Numbering of ranks: rank t + tensor × (replica + replicas × stage).
struct RankOrder {
  std::int64_t ranks = 1, of_stage = 1, tensor = 1;

  std::int64_t stages() const { return ranks / of_stage; }
  std::int64_t replicas() const { return of_stage / tensor; }
  std::int64_t stage_of(std::int64_t rank) const { return rank / of_stage; }
  std::int64_t place_of(std::int64_t rank) const { return rank % of_stage; }
};

/// Returns the constant difference of consecutive ranks in a list; 0 if it is not constant.
std::int64_t step_of(const Members& members) {
  const std::int64_t step = members[1] - members[0];
  for (std::size_t i = 2; i < members.size(); ++i) {
    if (members[i] - members[i - 1] != step) return 0;
  }
  return step;
}

bool is_within_stage(const Members& members, const RankOrder& order) {
  return order.stage_of(members.front()) == order.stage_of(members.back());
}

/// Derives the numbering of ranks: the distance of messages gives the stages, and the groups give the other dimensions.
RankOrder order_of(const std::vector<RankProgram>& programs) {
  RankOrder order{.ranks = static_cast<std::int64_t>(programs.size())};
  std::int64_t apart = 0;
  for (const RankProgram& program : programs) {
    for (const TracePart& part : program.issued) {
      if (part.kind == "send") apart = std::gcd(apart, std::abs(part.members[1] - part.members[0]));
    }
  }
  order.of_stage = apart == 0 ? order.ranks : apart;
  if (order.ranks % order.of_stage != 0)
    throw std::runtime_error(
        fmt::format("has messages between ranks {} apart, but {} ranks do not fill whole stages", apart, order.ranks));
  std::map<std::int64_t, std::string> sizes;  // groups of consecutive ranks that are not a whole stage
  std::map<std::int64_t, std::string> strides;
  for (const RankProgram& program : programs) {
    for (const TracePart& part : program.issued) {
      if (part.kind == "send" || !is_within_stage(part.members, order)) continue;
      const auto size = static_cast<std::int64_t>(part.members.size());
      if (size == order.of_stage) continue;
      const std::int64_t step = step_of(part.members);
      (step == 1 ? sizes : strides).try_emplace(step == 1 ? size : step, part.name);
    }
  }
  if (sizes.size() > 1 || (!sizes.empty() && !strides.empty() && sizes.begin()->first != strides.begin()->first) ||
      strides.size() > 1)
    throw std::runtime_error("has groups that do not fit tensor × replicas × stages");
  order.tensor = !sizes.empty() ? sizes.begin()->first : !strides.empty() ? strides.begin()->first : 1;
  if (order.tensor < 1 || order.of_stage % order.tensor != 0)
    throw std::runtime_error("has groups whose ranks are neither consecutive nor equally spaced");
  return order;
}

/// Returns true if a collective is among the ranks of one tensor group; false if it is among corresponding ranks of all
/// tensor groups.
bool is_within_tensor(const TracePart& part, const RankOrder& order) {
  const auto size = static_cast<std::int64_t>(part.members.size());
  const std::int64_t first = order.place_of(part.members.front());
  if (order.tensor > 1 && size == order.tensor && step_of(part.members) == 1 && first % order.tensor == 0) return true;
  const bool strided = size == order.replicas() && step_of(part.members) == order.tensor && first < order.tensor;
  if (strided) return false;
  throw std::runtime_error(
      fmt::format("has '{}' among ranks {}, not {} consecutive ranks or all ranks of a stage with stride {}", part.name,
                  fmt::join(part.members, " "), order.tensor, order.tensor));
}

/// Largest number of bytes of a collective among several stages that is omitted, such as that of norms of gradients; a
/// larger one is an error.
constexpr double kFewBytes = 4096;

void leave_out_small(std::vector<RankProgram>& programs, const RankOrder& order, RecordedStep& step) {
  for (RankProgram& program : programs) {
    const auto leaves = [&](const TraceEvent& event) {
      if (event.what != TraceEvent::TraceTask::issue && event.what != TraceEvent::TraceTask::wait) return false;
      const TracePart& part = program.issued[event.part];
      if (part.kind == "send" || is_within_stage(part.members, order)) return false;
      if (part.bytes > kFewBytes)
        throw std::runtime_error(fmt::format("has '{}' among ranks of several stages", part.name));
      if (event.what == TraceEvent::TraceTask::issue) ++step.small_collectives;
      return true;
    };
    std::vector<TraceEvent> kept;
    for (TraceEvent& event : program.events) {
      if (leaves(event)) continue;
      if (event.what == TraceEvent::TraceTask::compute && !kept.empty() &&
          kept.back().what == TraceEvent::TraceTask::compute) {
        if (kept.back().seconds == 0) kept.back().name = event.name;
        kept.back().seconds += event.seconds;
        continue;
      }
      kept.push_back(std::move(event));
    }
    program.events = std::move(kept);
  }
}

/// Matches the messages of a trace: the k-th message with a tag, from one rank to another, is the k-th at both ends.
class Messages {
 public:
  explicit Messages(const std::vector<RankProgram>& programs) {
    std::map<Key, std::size_t> sent, received;
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      for (std::size_t i = 0; i < programs[rank].issued.size(); ++i) {
        const TracePart& part = programs[rank].issued[i];
        if (part.kind != "send") continue;
        const Key key{part.members[0], part.members[1], part.tag};
        sent_[{key, sent[key]++}] = i;
      }
    }
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      for (const TracePart& part : programs[rank].received) {
        const Key key{part.members[0], part.members[1], part.tag};
        const auto found = sent_.find({key, received[key]++});
        if (found == sent_.end())
          throw std::runtime_error(
              fmt::format("has '{}' at rank {}, but rank {} sends no such message", part.name, rank, part.members[0]));
        sender_of_[rank].emplace_back(part.members[0], found->second);
      }
    }
  }

  /// Returns the sender of a received message, and the index of the message among the sender's collectives and
  /// messages.
  std::pair<std::int64_t, std::size_t> sender(std::size_t rank, std::size_t received) const {
    return sender_of_.at(rank).at(received);
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, tag
  std::map<std::pair<Key, std::size_t>, std::size_t> sent_;
  std::map<std::size_t, std::vector<std::pair<std::int64_t, std::size_t>>> sender_of_;
};

class StepMerger {
 public:
  StepMerger(const std::vector<RankProgram>& programs, const RankOrder& order, RecordedStep& step)
      : programs_(programs), order_(order), step_(step), messages_(programs) {}

  void merge() {
    check_ranks_of_stages();
    const auto stages = static_cast<std::size_t>(order_.stages());
    std::vector<std::size_t> at(stages);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < stages; ++stage) {
        while (at[stage] < program(stage).events.size() && take(static_cast<std::int64_t>(stage), at[stage])) {
          ++at[stage];
          moved = true;
        }
      }
    }
    for (std::size_t stage = 0; stage < stages; ++stage) {
      if (at[stage] < program(stage).events.size())
        throw std::runtime_error("has a deadlock: ranks wait for messages of each other");
    }
  }

 private:
  /// Returns the program of a stage: that of its first rank, which represents all.
  const RankProgram& program(std::size_t stage) const {
    return programs_[stage * static_cast<std::size_t>(order_.of_stage)];
  }

  void check_ranks_of_stages() const {
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      const auto stage = static_cast<std::size_t>(order_.stage_of(static_cast<std::int64_t>(rank)));
      const RankProgram& first = program(stage);
      const RankProgram& own = programs_[rank];
      const std::size_t count = std::min(own.events.size(), first.events.size());
      for (std::size_t i = 0; i < count; ++i) {
        if (!(own.events[i] == first.events[i])) fail(rank, stage, own.events[i], own);
        if (own.events[i].what != TraceEvent::TraceTask::issue) continue;
        const TracePart& part = own.issued[own.events[i].part];
        const TracePart& other = first.issued[own.events[i].part];
        if (part.kind != other.kind || part.members.size() != other.members.size())
          fail(rank, stage, own.events[i], own);
        const std::int64_t peer = part.members.front();
        if (part.kind != "all-reduce" || order_.stage_of(peer) != static_cast<std::int64_t>(stage)) continue;
        if (const double bytes = programs_.at(static_cast<std::size_t>(peer)).issued.at(own.events[i].part).bytes;
            part.bytes != bytes)
          throw std::runtime_error(
              fmt::format("has node {} ('{}') that sums {} bytes at rank {}, but {} bytes at rank {}", part.node,
                          part.name, part.bytes, rank, bytes, peer));
      }
      if (own.events.size() != first.events.size())
        throw std::runtime_error(fmt::format("has {} events at rank {}, and {} at rank {}", own.events.size(), rank,
                                             first.events.size(), stage * static_cast<std::size_t>(order_.of_stage)));
    }
  }

  [[noreturn]] void fail(std::size_t rank, std::size_t stage, const TraceEvent& event, const RankProgram& own) const {
    const bool of_part = event.what == TraceEvent::TraceTask::issue || event.what == TraceEvent::TraceTask::wait;
    throw std::runtime_error(
        fmt::format("needs equal tasks at all ranks of a stage (only seconds may differ); rank {} has other "
                    "tasks than rank {}{}; remove tasks that only some ranks have from all traces",
                    rank, stage * static_cast<std::size_t>(order_.of_stage),
                    of_part ? fmt::format(", from '{}' on", own.issued[event.part].name) : std::string()));
  }

  /// Returns one value per replica of a stage: the mean over the replica's ranks in this stage.
  std::vector<double> per_replica(std::int64_t stage, const std::function<double(const RankProgram&)>& of) const {
    std::vector<double> values;
    for (std::int64_t replica = 0; replica < order_.replicas(); ++replica) {
      double sum = 0;
      for (std::int64_t t = 0; t < order_.tensor; ++t)
        sum += of(programs_[static_cast<std::size_t>(stage * order_.of_stage + replica * order_.tensor + t)]);
      values.push_back(sum / static_cast<double>(order_.tensor));
    }
    return values;
  }

  /// Adds the next event of a stage. Returns false if it waits for a message that has not been sent yet.
  bool take(std::int64_t stage, std::size_t at) {
    const RankProgram& own = program(static_cast<std::size_t>(stage));
    const TraceEvent& event = own.events[at];
    RecordedStep::RecordedTask task;
    task.stage = stage;
    switch (event.what) {
      case TraceEvent::TraceTask::compute:
        task.name = event.name;
        task.amounts = per_replica(stage, [&](const RankProgram& one) { return one.events[at].seconds; });
        if (std::ranges::all_of(task.amounts, [](double seconds) { return seconds == 0; })) return true;
        break;
      case TraceEvent::TraceTask::issue: {
        const TracePart& part = own.issued[event.part];
        task.what = RecordedStep::RecordedTask::TraceTask::collective;
        task.name = part.name;
        task.kind = part.kind;
        task.amounts = per_replica(stage, [&](const RankProgram& one) { return one.issued[event.part].bytes; });
        if (part.kind == "send") {
          task.to_stage = order_.stage_of(part.members[1]);
        } else {
          task.within_tensor = is_within_tensor(part, order_);
        }
        number_of_[{stage, event.part}] = ++collectives_;
        break;
      }
      case TraceEvent::TraceTask::wait:
      case TraceEvent::TraceTask::wait_for_message: {
        std::pair<std::int64_t, std::size_t> awaited{stage, event.part};
        if (event.what == TraceEvent::TraceTask::wait_for_message) {
          const auto [rank, part] = messages_.sender(static_cast<std::size_t>(stage * order_.of_stage), event.part);
          awaited = {order_.stage_of(rank), part};
        }
        const auto found = number_of_.find(awaited);
        if (found == number_of_.end()) return false;
        task.what = RecordedStep::RecordedTask::TraceTask::wait;
        task.collective = found->second;
        break;
      }
    }
    step_.tasks.push_back(std::move(task));
    return true;
  }

  const std::vector<RankProgram>& programs_;
  const RankOrder& order_;
  RecordedStep& step_;
  Messages messages_;
  std::map<std::pair<std::int64_t, std::size_t>, std::size_t> number_of_;  ///< by (stage, part), from 1
  std::size_t collectives_ = 0;
};

/// Returns one number if all values are equal, else the list.
std::string list_of(const std::vector<double>& values) {
  const bool same = std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
  return same ? fmt::format("{}", values.front()) : fmt::format("{}", fmt::join(values, " "));
}

/// Returns the group of `rank` that corresponds to group `members` of rank 0: the same differences, shifted.
Members members_of_rank(std::int64_t rank, Members members) {
  std::ranges::sort(members);
  if (members.size() < 2 || members.front() != 0) return members;
  const std::int64_t step = step_of(members);
  if (step == 0) throw std::runtime_error("has groups whose ranks are not equally spaced");
  const std::int64_t all = step * static_cast<std::int64_t>(members.size());
  const std::int64_t first = rank / all * all + rank % step;
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = first + step * static_cast<std::int64_t>(i);
  return members;
}

}  // namespace

RecordedStep recorded_step_of(const std::vector<formats::ChakraTrace>& ranks,
                              const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t copies) {
  RecordedStep step;
  step.workers = copies > 0 ? copies : static_cast<std::int64_t>(ranks.size());
  std::vector<RankProgram> programs;
  for (std::int64_t rank = 0; rank < step.workers; ++rank) {
    const formats::ChakraTrace& trace = ranks[copies > 0 ? 0 : static_cast<std::size_t>(rank)];
    std::map<std::string, std::vector<std::int64_t>> known = trace.groups;
    for (const auto& [name, members] : groups) known[name] = members;
    if (copies > 0) {
      for (auto& [name, members] : known) members = members_of_rank(rank, std::move(members));
    }
    programs.push_back(program_of_rank(trace, rank, known, step.workers));
    step.host_operations += programs.back().host_operations;
    if (!programs.back().alone.empty() && step.workers == 1) {
      const std::vector<TracePart>& alone = programs.back().alone;
      throw std::runtime_error(
          fmt::format("has only one rank's trace, with {} collective{} among several ranks ('{}' of {:.4g} MB); the "
                      "number of ranks is not known",
                      alone.size(), alone.size() == 1 ? "" : "s", alone.front().name, alone.front().bytes / 1e6));
    }
    if (copies > 1 &&
        std::ranges::any_of(programs.back().issued, [](const TracePart& part) { return part.kind == "send"; }))
      throw std::runtime_error("has messages to other ranks, whose traces are missing");
  }
  const RankOrder order = order_of(programs);
  step.tensor = order.tensor;
  step.stages = order.stages();
  leave_out_small(programs, order, step);
  StepMerger(programs, order, step).merge();
  if (step.tasks.empty()) throw std::runtime_error("has no event with a duration");
  return step;
}

std::string file_of_recorded_step(const std::string& name, const RecordedStep& step, const std::string& precision) {
  using Open = scenario::XmlWriter::Open;
  scenario::XmlWriter xml;
  {
    Open root(xml, "recorded-step");
    root.set("name", with_hidden_characters_shown(name)).set("workers", step.workers);
    if (step.tensor > 1) root.set("tensor", step.tensor);
    if (step.stages > 1) root.set("pipeline", step.stages);
    if (!precision.empty()) root.set("precision", precision);
    for (const RecordedStep::RecordedTask& task : step.tasks) {
      const bool waits = task.what == RecordedStep::RecordedTask::TraceTask::wait;
      const bool computes = task.what == RecordedStep::RecordedTask::TraceTask::compute;
      Open element(xml, waits ? "wait" : computes ? "compute" : "collective");
      if (!task.name.empty()) element.set("name", with_hidden_characters_shown(task.name));
      if (computes) {
        element.set("seconds", list_of(task.amounts));
      } else if (waits) {
        element.set("for", task.collective);
      } else {
        element.set("kind", task.kind).set("bytes", list_of(task.amounts));
        if (task.within_tensor) element.set("among", "tensor");
        if (task.to_stage >= 0) element.set("to", task.to_stage);
      }
      if (step.stages > 1) element.set("stage", task.stage);
    }
  }
  return xml.finish();
}

}  // namespace dadsim::study
