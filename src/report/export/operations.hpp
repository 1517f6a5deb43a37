#pragma once

#include <string>
#include <vector>

#include "step/operations.hpp"

namespace dadsim::report {

/// Writes a step in GOAL, the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine: Group Operation Assembly
/// Language, ICPP 2009). The text form is that of LogGOPSim's txt2bin (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re). There
/// is a rank per node, with computations in nanoseconds on its cpu 0 and messages in bytes on its cpu 1. Messages of
/// less than a byte count as one byte.
std::string to_goal(const step::StepOperations& operations);

/// Writes the execution trace of one node of a step in the format of MLCommons Chakra. (Sridharan et al.: Chakra:
/// Advancing Performance Benchmarking and Co-design using Standardized Execution Traces, arXiv 2305.14516;
/// mlcommons/chakra, schema/protobuf/et_def.proto.) It is a GlobalMetadata, then Nodes, each in protobuf with its
/// length before it; docs/chakra.proto has the fields in use.
/// - A computation is a COMP_NODE. The format's duration is in whole microseconds; the attribute dadsim_seconds has all
///   digits.
/// - An all-reduce, all-gather, reduce-scatter or all-to-all is a COMM_COLL_NODE: the reader chooses how to carry it
/// out.
///   comm_size is the number of bytes that the rank hands over. pg_name is its group's number among chakra_groups(),
///   unless the group is all nodes.
/// - All other collectives become messages: COMM_SEND_NODE and COMM_RECV_NODE.
/// Dependencies are data_deps on operations of the compute stream and of the previous collective.
std::string to_chakra(const step::StepOperations& operations, std::size_t node);

/// Returns the groups of the step's collectives, each once, without the group of all nodes.
std::vector<std::vector<std::int32_t>> chakra_groups(const step::StepOperations& operations);
/// Writes the file of groups for ASTRA-sim: {"1": [0, 1], "2": [2, 3]}.
std::string to_chakra_groups(const step::StepOperations& operations);

}  // namespace dadsim::report
