#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/chakra.hpp"

namespace dadsim::study {

/// A step recorded by its ranks, in the form of <recorded-step> (docs/workloads.md): every rank of a stage goes through
/// the stage's tasks in order.
struct RecordedStep {
  struct RecordedTask {
    enum class TraceTask : std::uint8_t { compute, collective, wait };
    TraceTask what = TraceTask::compute;
    std::string name;
    std::int64_t stage = 0;
    std::vector<double> amounts;  ///< seconds or bytes, per replica of a stage
    std::string kind;             ///< kind of a collective, as in the file
    bool within_tensor = false;   ///< true: a collective among the ranks of a tensor group, not among replicas
    std::int64_t to_stage = -1;   ///< receiving stage of a message
    std::size_t collective = 0;   ///< number of the collective that a wait refers to, from 1
  };
  std::int64_t workers = 0, tensor = 1, stages = 1;
  std::vector<RecordedTask> tasks;
  std::size_t host_operations = 0;    ///< omitted computations of the host
  std::size_t small_collectives = 0;  ///< omitted collectives with few bytes among ranks of several stages
};

/// Combines the traces of all ranks. Ranks with equal collectives among equal ranks are told apart only by their
/// position. `groups`: ranks by the names in collectives; missing and empty names mean all ranks. `copies` above 0: the
/// only trace is rank 0's, and so many ranks do the same, each with its own groups. Throws std::runtime_error, with a
/// message for the user, if ranks do not match, groups are not of the form tensor × replicas × stages, or a single
/// trace belongs to a job with more ranks.
RecordedStep recorded_step_of(const std::vector<formats::ChakraTrace>& ranks,
                              const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t copies = 0);

/// Returns the step's file for <timed-as file="…"/>. `precision`: name of the precision, if the seconds contain
/// computing only; empty: seconds as measured.
std::string file_of_recorded_step(const std::string& name, const RecordedStep& step, const std::string& precision = {});

}  // namespace dadsim::study
