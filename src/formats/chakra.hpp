#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::formats {

/// A node of an execution trace of MLCommons Chakra (Sridharan et al., arXiv 2305.14516; mlcommons/chakra,
/// schema/protobuf/et_def.proto), with the fields for the time of computations and messages.
struct ChakraNode {
  enum class NodeType : std::uint8_t { other, compute, send, receive, collective };
  /// Chakra's CollectiveCommType.
  enum class Collective : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    gather,
    scatter,
    broadcast,
    all_to_all,
    reduce_scatter,
    reduce_scatter_block,
    barrier
  };
  std::uint64_t id = 0;
  std::string name;
  NodeType type = NodeType::other;
  std::vector<std::uint64_t> after;  ///< numbers of nodes to wait for (data_deps)
  double seconds = 0;                ///< duration of a computation, seconds
  bool on_host = false;              ///< true: a computation on the host (is_cpu_op)
  Collective collective = Collective::all_reduce;
  double bytes = 0;                                     ///< comm_size: bytes that the rank sends
  std::string group;                                    ///< pg_name, the group; empty: all ranks
  std::int64_t source = -1, destination = -1, tag = 0;  ///< ranks and tag of a message; −1: the rank of the trace
};

/// The trace of one rank.
struct ChakraTrace {
  std::vector<ChakraNode> nodes;
  /// Ranks of each group, by name, from PyTorch's own metadata; a group without ranks has all.
  std::map<std::string, std::vector<std::int64_t>> groups;
};

/// Reads the contents of a file: a GlobalMetadata and Nodes, each preceded by its length. Throws std::runtime_error,
/// with a message for the user, if the file is not a trace, or a node is incomplete.
ChakraTrace read_chakra(std::string_view bytes);

/// Reads groups in ASTRA-sim's JSON, which accompanies traces: {"1": [0, 1, 2]}. Throws std::runtime_error, with a
/// message for the user.
std::map<std::string, std::vector<std::int64_t>> read_groups(const std::string& text);

}  // namespace dadsim::formats
