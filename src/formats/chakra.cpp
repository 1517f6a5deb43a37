#include "formats/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "formats/json.hpp"

namespace dadsim::formats {
namespace {

/// Iterates over the fields of a message in protobuf's wire format (protobuf.dev, "Encoding"). Throws
/// std::runtime_error if the bytes end within a field, a number is longer than 64 bits, or a field is of an unknown
/// type.
class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;  ///< value of a varint, or bits of a fixed-width number
    std::string_view text;    ///< bytes of a length-delimited field
    bool has_text = false;
    double as_double() const { return std::bit_cast<double>(value); }
  };

  /// Returns the next field; nullopt after the last.
  std::optional<Field> next() {
    if (bytes_.empty()) return std::nullopt;
    const std::uint64_t key = varint();
    Field field;
    field.number = static_cast<std::uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        field.value = varint();
        return field;
      case 1:
        field.value = fixed(8);
        return field;
      case 2:
        field.text = take(varint());
        field.has_text = true;
        return field;
      case 5:
        field.value = fixed(4);
        return field;
      default:
        throw std::runtime_error("has a field of unknown type");
    }
  }

  bool empty() const { return bytes_.empty(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) throw std::runtime_error("ends within a field");
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw std::runtime_error("has a number that is too long");
  }

  std::string_view take(std::uint64_t length) {
    if (length > bytes_.size()) throw std::runtime_error("ends within a field");
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

 private:
  std::uint64_t fixed(std::uint64_t size) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : take(size)) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    return value;
  }

  std::string_view bytes_;
};

using Groups = std::map<std::string, std::vector<std::int64_t>>;

// Numbers of fields and types (et_def.proto).
enum : std::uint32_t {
  kNodeId = 1,
  kNodeName = 2,
  kNodeType = 3,
  kDataDependencies = 5,
  kDurationMicros = 7,
  kNodeInputs = 8,
  kNodeAttribute = 10
};
enum : std::uint32_t { kNameOfAttribute = 1, kDoubleValue = 3, kFloatValue = 5, kStringValue = 29 };
enum : std::uint64_t { kMetadataNode = 1, kComputeNode = 4, kSendNode = 5, kReceiveNode = 6, kCollectiveNode = 7 };
constexpr std::uint64_t kLastCollective = 9;
constexpr double kMicrosecond = 1e-6;
constexpr std::size_t kMostOfJson = std::size_t{16} << 20U;

/// Bytes of memory per node while its step is assembled. In all, a trace may take four times its own bytes; a trace
/// with few nodes may take more.
constexpr std::size_t kBytesInMemory = sizeof(ChakraNode) + 100;
constexpr std::size_t kNodesOfAnyTrace = 200'000;

/// An attribute whose value is a number or a text; lists are ignored.
struct ChakraAttribute {
  std::string name, text;
  double number = 0;
};

ChakraAttribute read_attribute(std::string_view bytes) {
  ChakraAttribute attribute;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == kNameOfAttribute) {
      attribute.name = field->text;
    } else if (field->number == kDoubleValue) {
      attribute.number = field->as_double();
    } else if (field->number == kFloatValue) {
      attribute.number = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    } else if (field->number == kStringValue) {
      attribute.text = field->text;
    } else if (!field->has_text) {
      attribute.number = static_cast<double>(static_cast<std::int64_t>(field->value));
    }
  }
  return attribute;
}

/// Returns the text in a Python list "['[…]']", the form of a node's inputs.
std::string only_text_of_list(std::string_view values) {
  const std::size_t begin = values.find("'[");
  const std::size_t end = values.rfind("]'");
  if (begin == std::string_view::npos || end == std::string_view::npos || end <= begin) return {};
  return std::string(values.substr(begin + 1, end - begin));
}

/// Adds the process groups of PyTorch's metadata, a JSON array; ignores any other text. Throws std::runtime_error above
/// 16 MiB.
void add_process_groups(std::string_view inputs, Groups& groups) {
  constexpr std::uint32_t kValues = 1;
  ProtobufFields fields(inputs);
  while (const auto field = fields.next()) {
    if (field->number != kValues) continue;
    if (field->text.size() > kMostOfJson) throw std::runtime_error("has groups of more than 16 MiB");
    const Json list = Json::parse(only_text_of_list(field->text), nullptr, false);
    if (list.is_discarded() || !list.is_array()) continue;
    for (const Json& one : list) {
      if (!one.is_object() || !one.contains("pg_name") || !one.contains("ranks") || !one["pg_name"].is_string())
        continue;
      std::vector<std::int64_t>& ranks = groups[one["pg_name"].get<std::string>()];
      for (const Json& rank : one["ranks"]) {
        if (rank.is_number_integer()) ranks.push_back(rank.get<std::int64_t>());
      }
    }
  }
}

ChakraNode::NodeType type_of(std::uint64_t type) {
  using enum ChakraNode::NodeType;
  return type == kComputeNode      ? compute
         : type == kSendNode       ? send
         : type == kReceiveNode    ? receive
         : type == kCollectiveNode ? collective
                                   : other;
}

void take_attribute(ChakraAttribute attribute, ChakraNode& node) {
  const auto whole = static_cast<std::int64_t>(attribute.number);
  if (attribute.name == "is_cpu_op") node.on_host = attribute.number != 0;
  if (attribute.name == "dadsim_seconds") node.seconds = attribute.number;
  if (attribute.name == "comm_size") node.bytes = attribute.number;
  if (attribute.name == "comm_src") node.source = whole;
  if (attribute.name == "comm_dst") node.destination = whole;
  if (attribute.name == "comm_tag") node.tag = whole;
  if (attribute.name == "pg_name") node.group = std::move(attribute.text);
  if (attribute.name == "comm_type") {
    if (whole < 0 || whole > static_cast<std::int64_t>(kLastCollective))
      throw std::runtime_error("has a collective of unknown type");
    node.collective = static_cast<ChakraNode::Collective>(whole);
  }
}

ChakraNode read_node(std::string_view bytes, Groups& groups) {
  ChakraNode node;
  std::uint64_t type = 0;
  std::string_view inputs;
  std::vector<ChakraAttribute> attributes;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case kNodeId:
        node.id = field->value;
        break;
      case kNodeName:
        node.name = field->text;
        break;
      case kNodeType:
        type = field->value;
        break;
      case kDataDependencies:
        if (!field->has_text) node.after.push_back(field->value);
        for (ProtobufFields packed(field->text); !packed.empty();) node.after.push_back(packed.varint());
        break;
      case kDurationMicros:
        node.seconds = kMicrosecond * static_cast<double>(field->value);
        break;
      case kNodeInputs:
        inputs = field->text;
        break;
      case kNodeAttribute:
        attributes.push_back(read_attribute(field->text));
        break;
      default:
        break;
    }
  }
  node.type = type_of(type);
  for (ChakraAttribute& attribute : attributes) take_attribute(std::move(attribute), node);
  if (!std::isfinite(node.seconds) || node.seconds < 0 || !std::isfinite(node.bytes) || node.bytes < 0)
    throw std::runtime_error(fmt::format("has node {}, whose time or size is negative or not finite", node.id));
  if (type == kMetadataNode) add_process_groups(inputs, groups);
  return node;
}

}  // namespace

ChakraTrace read_chakra(std::string_view bytes) {
  ChakraTrace trace;
  ProtobufFields file(bytes);
  if (file.empty()) throw std::runtime_error("is empty");
  file.take(file.varint());  // skips the metadata
  std::size_t count = 0;
  for (ProtobufFields nodes = file; !nodes.empty(); ++count) nodes.take(nodes.varint());
  if (count > kNodesOfAnyTrace && count * kBytesInMemory > 4 * bytes.size())
    throw std::runtime_error(
        fmt::format("has {} nodes in {} bytes: too few bytes for their times and sizes", count, bytes.size()));
  trace.nodes.reserve(count);
  while (!file.empty()) trace.nodes.push_back(read_node(file.take(file.varint()), trace.groups));
  if (std::ranges::all_of(trace.nodes, [](const ChakraNode& node) { return node.type == ChakraNode::NodeType::other; }))
    throw std::runtime_error("has no node that computes or sends");
  return trace;
}

std::map<std::string, std::vector<std::int64_t>> read_groups(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) throw std::runtime_error("is not a JSON object");
  Groups groups;
  for (const auto& [name, ranks] : json.items()) {
    if (!ranks.is_array() || !std::ranges::all_of(ranks, [](const Json& rank) { return rank.is_number_integer(); }))
      throw std::runtime_error("has groups that are not lists of ranks");
    for (const Json& rank : ranks) groups[name].push_back(rank.get<std::int64_t>());
  }
  return groups;
}

}  // namespace dadsim::formats
