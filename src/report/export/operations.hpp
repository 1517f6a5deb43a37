#pragma once

#include <string>
#include <vector>

#include "step/operations.hpp"

namespace dadsim::report {

/// Returns a step in GOAL, the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine: Group Operation Assembly
/// Language, ICPP 2009). The text form is the input of LogGOPSim's txt2bin (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re).
/// Each node is a rank, with computations in nanoseconds on cpu 0 and messages in bytes on cpu 1. Messages of less than
/// a byte count as one byte.
std::string to_goal(const step::StepOperations& operations);

/// Writes the execution trace of one node of a step in the format of MLCommons Chakra. (Sridharan et al.: Chakra:
/// Advancing Performance Benchmarking and Co-design using Standardized Execution Traces, arXiv 2305.14516;
/// mlcommons/chakra, schema/protobuf/et_def.proto.) It is a GlobalMetadata, then Nodes, each in protobuf with its
/// length before it; docs/chakra.proto has the fields in use.
/// - A computation is a COMP_NODE. The format's duration is in whole microseconds; the attribute dadsim_seconds has all
///   digits.
/// - An all-reduce, all-gather, reduce-scatter or all-to-all is a COMM_COLL_NODE: the reader chooses its algorithm.
///   comm_size is the number of bytes that the rank contributes. pg_name is the number of the collective's group among
///   chakra_groups(), unless the group is all nodes.
/// - All other collectives become messages: COMM_SEND_NODE and COMM_RECV_NODE.
/// Dependencies are data_deps on operations of the compute stream and of the previous collective.
std::string to_chakra(const step::StepOperations& operations, std::size_t node);

/// Returns the distinct groups of the step's collectives, except the group of all nodes.
std::vector<std::vector<std::int32_t>> chakra_groups(const step::StepOperations& operations);
/// Returns the file of groups for ASTRA-sim: {"1": [0, 1], "2": [2, 3]}.
std::string to_chakra_groups(const step::StepOperations& operations);

}  // namespace dadsim::report
