#include "study/import/rank_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace dadsim::study {
namespace {

using formats::ChakraNode;

/// As <recorded-step> calls it, and its share of the bytes that a rank hands over. What goes from one rank to all, or
/// from all to one, carries as many bytes over each line of a ring as half of an all-reduce does.
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
  throw std::runtime_error("has a gather or a scatter, which <recorded-step> does not know");
}

class ProgramWriter {
 public:
  ProgramWriter(const formats::ChakraTrace& trace, std::int64_t rank,
                const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t ranks)
      : trace_(trace), rank_(rank), groups_(groups), ranks_(ranks) {
    const auto on_device = [](const ChakraNode& node) {
      return node.type == ChakraNode::Type::compute && !node.on_host;
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
  /// What has to be through before a node begins: parts of the program that its computations have not waited for.
  /// Numbers of `issued`, and behind them of `received`.
  using Pending = std::set<std::pair<bool, std::size_t>>;

  static bool sends(const ChakraNode& node) {
    return node.type == ChakraNode::Type::collective || node.type == ChakraNode::Type::send ||
           node.type == ChakraNode::Type::receive;
  }

  /// The host's call of what the device does, which has a node of its own.
  bool is_call(const ChakraNode& node) const {
    if (!node.on_host) return false;
    return sends(node) ? some_sent_by_device_ : some_on_device_ && node.type == ChakraNode::Type::compute;
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
        if (found == number_of_.end()) continue;  // converters leave some out
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
    if (order.size() != count) throw std::runtime_error("has nodes that come after themselves");
    return order;
  }

  void visit(std::size_t number) {
    const ChakraNode& node = trace_.nodes[number];
    Pending pending = before(node);
    const bool call = is_call(node);
    if (call) ++program_.host_operations;
    switch (call ? ChakraNode::Type::other : node.type) {
      case ChakraNode::Type::compute:
        wait_for(pending);
        pending.clear();
        if (computing_.name.empty() || computing_.seconds == 0) computing_.name = node.name;
        computing_.seconds += node.seconds;
        check_amount(node, computing_.seconds);
        break;
      case ChakraNode::Type::collective:
      case ChakraNode::Type::send:
        issue(node, pending);
        break;
      case ChakraNode::Type::receive:
        receive(node, pending);
        break;
      case ChakraNode::Type::other:
        break;
    }
    constexpr std::size_t kMostPending = 5'000'000;  // some 50 bytes each
    pending_count_ += pending.size();
    if (pending_count_ > kMostPending)
      throw std::runtime_error(
          fmt::format("has node {} at rank {}, before which too many collectives are under way", node.id, rank_));
    if (!pending.empty()) pending_of_[number] = std::move(pending);
  }

  /// A file of a step has amounts up to this one.
  void check_amount(const ChakraNode& node, double amount) const {
    constexpr double kMost = 1e18;
    if (amount > kMost)
      throw std::runtime_error(
          fmt::format("has node {} ('{}') at rank {}, with which seconds or bytes are {}; at most {}", node.id,
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
    computing_.what = RankProgram::Event::What::compute;
    program_.events.push_back(std::move(computing_));
    computing_ = {};
  }

  void add(RankProgram::Event::What what, std::size_t part) {
    end_computing();
    program_.events.push_back({.what = what, .name = {}, .part = part});
  }

  void wait_for(const Pending& pending) {
    using What = RankProgram::Event::What;
    for (const auto& [received, part] : pending) {
      add(received ? What::wait_for_message : What::wait, part);
      waited_.insert({received, part});
    }
  }

  /// What a collective comes after goes before it on its own line, or is waited for.
  void issue(const ChakraNode& node, Pending& pending) {
    RankProgram::Part part = part_of(node);
    if (part.members.size() < 2) {
      if (part.kind != "send") program_.alone.push_back(std::move(part));
      return;
    }
    Pending others;
    for (const auto& one : pending) {
      const RankProgram::Part& other = (one.first ? program_.received : program_.issued)[one.second];
      if (one.first || other.members != part.members || part.kind == "send") others.insert(one);
    }
    wait_for(others);
    const std::size_t number = program_.issued.size();
    program_.issued.push_back(std::move(part));
    add(RankProgram::Event::What::issue, number);
    pending = {{false, number}};
  }

  void receive(const ChakraNode& node, Pending& pending) {
    const std::int64_t to = node.destination < 0 ? rank_ : node.destination;
    if (to != rank_ || node.source < 0 || node.source >= ranks_ || node.source == rank_)
      throw std::runtime_error(fmt::format("has a message '{}' without both ends", node.name));
    program_.received.push_back({node.name, "send", {node.source, to}, node.bytes, node.tag, node.id});
    pending = {{true, program_.received.size() - 1}};
  }

  RankProgram::Part part_of(const ChakraNode& node) const {
    check_amount(node, node.bytes);
    if (node.type == ChakraNode::Type::send) {
      const std::int64_t from = node.source < 0 ? rank_ : node.source;
      if (from != rank_ || node.destination < 0 || node.destination >= ranks_ || node.destination == rank_)
        throw std::runtime_error(fmt::format("has a message '{}' without both ends", node.name));
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
      throw std::runtime_error(fmt::format("takes part in '{}' with rank {}, and there are traces of {} alone",
                                           node.name, members.front() < 0 ? members.front() : members.back(), ranks_));
    if (std::ranges::find(members, rank_) == members.end())
      throw std::runtime_error(
          fmt::format("takes part in '{}' of group '{}', to which it does not belong", node.name, node.group));
    constexpr double kWord = 4;  // bytes that a barrier may be thought to sum
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
  RankProgram::Event computing_;
  std::unordered_map<std::uint64_t, std::size_t> number_of_;
  std::unordered_map<std::size_t, Pending> pending_of_;
  Pending waited_;
  std::size_t pending_count_ = 0;  ///< in all of pending_of_
};

}  // namespace

RankProgram program_of_rank(const formats::ChakraTrace& trace, std::int64_t rank,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t ranks) {
  return ProgramWriter(trace, rank, groups, ranks).write();
}

}  // namespace dadsim::study
