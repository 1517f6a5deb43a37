#pragma once

#include <string>
#include <vector>

#include "step/operations.hpp"

namespace dadsim::report {

/// The execution trace of one node of a step in the format of MLCommons Chakra (Sridharan et al.: Chakra: Advancing
/// Performance Benchmarking and Co-design using Standardized Execution Traces, arXiv 2305.14516; mlcommons/chakra,
/// schema/protobuf/et_def.proto): a GlobalMetadata, then Nodes, each in protobuf with its length before it. What is
/// written of it docs/chakra.proto has.
/// - A computation is a COMP_NODE. Its duration is in whole microseconds, as the format has it; the attribute
///   dadsim_seconds has all digits.
/// - An all-reduce, all-gather, reduce-scatter or all-to-all is a COMM_COLL_NODE: how it is carried out is for the
/// reader
///   to say. comm_size is what the rank hands over, in bytes, and pg_name its group, by its number among
///   chakra_groups(), where it is not all nodes.
/// - Everything else are its messages: COMM_SEND_NODE and COMM_RECV_NODE.
/// Dependencies are data_deps: on what the compute stream and the collective before have to be through with.
std::string to_chakra(const step::StepOperations& operations, std::size_t node);

/// The groups that collectives of the step are among, each once, but for the one of all nodes.
std::vector<std::vector<std::int32_t>> chakra_groups(const step::StepOperations& operations);
/// The file that ASTRA-sim reads them from: {"1": [0, 1], "2": [2, 3]}.
std::string to_chakra_groups(const step::StepOperations& operations);

}  // namespace dadsim::report
