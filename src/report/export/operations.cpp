#include "report/export/operations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace dadsim::report {
namespace {

using step::StepOperations;

std::int64_t whole_bytes(double bytes) { return std::max<std::int64_t>(1, std::llround(bytes)); }

using step::StepOperations;

/// Writes a message in protobuf's wire format (protobuf.dev, "Encoding"), with fields as tag and value. A trace needs
/// only five kinds of field. The tests read the result with protoc.
class ProtobufMessage {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    put(field << 3);
    put(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    put((field << 3) | 2);
    put(value.size());
    bytes_ += value;
  }
  void number(std::uint32_t field, double value) {
    put((field << 3) | 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(bits >> (8 * byte) & 0xff);
  }
  /// Writes the numbers of a repeated field, packed.
  void varints(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    if (values.empty()) return;
    ProtobufMessage packed;
    for (const std::uint64_t value : values) packed.put(value);
    text(field, packed.bytes_);
  }
  const std::string& bytes() const { return bytes_; }
  std::string with_length() const {
    ProtobufMessage length;
    length.put(bytes_.size());
    return length.bytes_ + bytes_;
  }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Field numbers of the schema (docs/chakra.proto).
constexpr const char* kSchemaVersion = "0.0.4";
enum NodeField : std::uint32_t { kId = 1, kName = 2, kType = 3, kDataDeps = 5, kDuration = 7, kAttribute = 10 };
enum AttributeField : std::uint32_t {
  kAttributeName = 1,
  kDouble = 3,
  kInt32 = 7,
  kInt64 = 9,
  kUint64 = 13,
  kBool = 27,
  kString = 29
};
enum NodeType : std::uint64_t { kComputation = 4, kSend = 5, kReceive = 6, kCollective = 7 };

/// Returns Chakra's CollectiveCommType; −1 for collectives written as messages.
std::int64_t collective_type(step::CollectiveKind kind) {
  switch (kind) {
    case step::CollectiveKind::all_reduce:
      return 0;
    case step::CollectiveKind::all_gather:
      return 2;
    case step::CollectiveKind::all_to_all:
      return 6;
    case step::CollectiveKind::reduce_scatter:
      return 7;
    default:
      return -1;
  }
}

class ChakraWriter {
 public:
  ChakraWriter(const StepOperations& operations, std::size_t node)
      : operations_(operations), node_(operations.nodes[node]), number_(node), before_(node_.operations.size()) {
    const std::vector<std::vector<std::int32_t>> groups = chakra_groups(operations);
    for (std::size_t i = 0; i < groups.size(); ++i) group_names_.try_emplace(groups[i], fmt::format("{}", i + 1));
  }

  std::string write() {
    ProtobufMessage metadata;
    metadata.text(1, kSchemaVersion);
    text_ = metadata.with_length();
    auto part = node_.parts.begin();
    for (std::size_t i = 0; i < node_.operations.size(); ++i) {
      while (part != node_.parts.end() && static_cast<std::size_t>(part->last) < i) ++part;
      if (part != node_.parts.end() && static_cast<std::size_t>(part->first) == i && is_whole(*part)) {
        write_collective(*part);
        i = static_cast<std::size_t>(part->last);
        continue;
      }
      write_operation(i);
    }
    return std::move(text_);
  }

 private:
  /// Trace nodes, in ascending order.
  using Ids = std::vector<std::uint64_t>;

  const StepOperations::Task& task(std::int32_t number) const {
    return operations_.tasks[static_cast<std::size_t>(number)];
  }
  bool is_whole(const StepOperations::Part& part) const {
    return !task(part.task).groups.empty() && collective_type(task(part.task).kind) >= 0;
  }
  /// Returns the name of the group of a collective; empty if the group is all nodes.
  std::string group_name(const StepOperations::Task& what) const {
    const auto own = std::ranges::find_if(what.groups, [&](const std::vector<std::int32_t>& group) {
      return std::ranges::find(group, static_cast<std::int32_t>(number_)) != group.end();
    });
    if (own == what.groups.end()) return {};
    const auto found = group_names_.find(*own);
    return found == group_names_.end() ? std::string() : found->second;
  }

  /// Returns the trace nodes of operations. Operations that only join others are replaced by their predecessors.
  Ids ids_of(const std::vector<std::int32_t>& operations) const {
    Ids ids;
    for (const std::int32_t one : operations) {
      const Ids& of_one = before_[static_cast<std::size_t>(one)];
      ids.insert(ids.end(), of_one.begin(), of_one.end());
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  static ProtobufMessage attribute(const char* name) {
    ProtobufMessage message;
    message.text(kAttributeName, name);
    return message;
  }
  static void add(ProtobufMessage& node, const ProtobufMessage& attribute) { node.text(kAttribute, attribute.bytes()); }
  static void add_varint(ProtobufMessage& node, const char* name, AttributeField type, std::uint64_t value) {
    ProtobufMessage message = attribute(name);
    message.varint(type, value);
    add(node, message);
  }

  ProtobufMessage begin(const std::string& name, NodeType type, const Ids& after, double seconds = 0) const {
    ProtobufMessage node;
    node.varint(kId, next_);
    node.text(kName, name);
    node.varint(kType, type);
    node.varints(kDataDeps, after);
    if (seconds > 0) node.varint(kDuration, static_cast<std::uint64_t>(std::llround(seconds * 1e6)));
    add_varint(node, "is_cpu_op", kBool, 0);
    return node;
  }

  void end(const ProtobufMessage& node, std::size_t operation) {
    text_ += node.with_length();
    before_[operation] = {next_++};
  }

  void write_collective(const StepOperations::Part& part) {
    const StepOperations::Task& what = task(part.task);
    ProtobufMessage node = begin(what.name, kCollective, ids_of(part.after));
    add_varint(node, "comm_type", kInt64, static_cast<std::uint64_t>(collective_type(what.kind)));
    add_varint(node, "comm_size", kUint64, static_cast<std::uint64_t>(std::llround(part.bytes)));
    if (const std::string name = group_name(what); !name.empty()) {
      ProtobufMessage group = attribute("pg_name");
      group.text(kString, name);
      add(node, group);
    }
    end(node, static_cast<std::size_t>(part.last));
  }

  void write_operation(std::size_t i) {
    const StepOperations::Operation& one = node_.operations[i];
    const Ids after = ids_of(one.after);
    if (one.kind == StepOperations::Kind::meet) {
      before_[i] = after;
      return;
    }
    const std::string& name = task(one.task).name;
    if (one.kind == StepOperations::Kind::compute) {
      ProtobufMessage node = begin(name, kComputation, after, one.seconds);
      ProtobufMessage seconds = attribute("dadsim_seconds");
      seconds.number(kDouble, one.seconds);
      add(node, seconds);
      return end(node, i);
    }
    const bool sends = one.kind == StepOperations::Kind::send;
    const auto peer = static_cast<std::uint64_t>(one.peer);
    ProtobufMessage node = begin(name, sends ? kSend : kReceive, after);
    add_varint(node, "comm_size", kUint64, static_cast<std::uint64_t>(std::llround(one.bytes)));
    add_varint(node, "comm_src", kInt32, sends ? number_ : peer);
    add_varint(node, "comm_dst", kInt32, sends ? peer : number_);
    add_varint(node, "comm_tag", kInt32, static_cast<std::uint64_t>(one.tag));
    end(node, i);
  }

  const StepOperations& operations_;
  const StepOperations::Node& node_;
  std::uint64_t number_;
  std::map<std::vector<std::int32_t>, std::string> group_names_;
  std::vector<Ids> before_;  ///< trace nodes, per operation
  std::uint64_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string to_goal(const StepOperations& operations) {
  std::string text = fmt::format("num_ranks {}\n", operations.nodes.size());
  const auto out = std::back_inserter(text);
  for (std::size_t rank = 0; rank < operations.nodes.size(); ++rank) {
    fmt::format_to(out, "\nrank {} {{\n", rank);
    const std::vector<StepOperations::Operation>& all = operations.nodes[rank].operations;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const StepOperations::Operation& one = all[i];
      switch (one.kind) {
        case StepOperations::Kind::compute:
          fmt::format_to(out, "l{}: calc {} cpu 0\n", i, std::llround(one.seconds * 1e9));
          break;
        case StepOperations::Kind::meet:
          fmt::format_to(out, "l{}: calc 0 cpu {}\n", i,
                         operations.tasks[static_cast<std::size_t>(one.task)].collective ? 1 : 0);
          break;
        case StepOperations::Kind::send:
          fmt::format_to(out, "l{}: send {}b to {} tag {} cpu 1\n", i, whole_bytes(one.bytes), one.peer, one.tag);
          break;
        case StepOperations::Kind::receive:
          fmt::format_to(out, "l{}: recv {}b from {} tag {} cpu 1\n", i, whole_bytes(one.bytes), one.peer, one.tag);
          break;
      }
      for (const std::int32_t before : one.after) fmt::format_to(out, "l{} requires l{}\n", i, before);
    }
    text += "}\n";
  }
  return text;
}

std::vector<std::vector<std::int32_t>> chakra_groups(const StepOperations& operations) {
  std::set<std::vector<std::int32_t>> groups;
  for (const StepOperations::Task& task : operations.tasks) {
    if (collective_type(task.kind) < 0) continue;
    for (const std::vector<std::int32_t>& group : task.groups) {
      if (group.size() < operations.nodes.size()) groups.insert(group);
    }
  }
  return {groups.begin(), groups.end()};
}

std::string to_chakra_groups(const StepOperations& operations) {
  std::string text = "{";
  const std::vector<std::vector<std::int32_t>> groups = chakra_groups(operations);
  for (std::size_t i = 0; i < groups.size(); ++i)
    text += fmt::format("{}\"{}\": [{}]", i == 0 ? "" : ",\n ", i + 1, fmt::join(groups[i], ", "));
  return text + "}\n";
}

std::string to_chakra(const StepOperations& operations, std::size_t node) {
  return ChakraWriter(operations, node).write();
}

}  // namespace dadsim::report
