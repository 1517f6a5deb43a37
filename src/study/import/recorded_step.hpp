#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/chakra.hpp"

namespace dadsim::study {

/// A step as its ranks recorded it, in the form of <recorded-step> (docs/workloads.md): every rank of a stage goes
/// through the tasks of that stage in order.
struct RecordedStep {
  struct RecordedTask {
    enum class TraceTask : std::uint8_t { compute, collective, wait };
    TraceTask what = TraceTask::compute;
    std::string name;
    std::int64_t stage = 0;
    std::vector<double> amounts;  ///< seconds or bytes, per replica of a stage
    std::string kind;             ///< of a collective, as the file calls it
    bool within_tensor = false;   ///< of a collective: among the ranks of a tensor group, not among replicas
    std::int64_t to_stage = -1;   ///< of a send
    std::size_t collective = 0;   ///< of a wait: the number of the collective among all, from 1
  };
  std::int64_t workers = 0, tensor = 1, stages = 1;
  std::vector<RecordedTask> tasks;
  std::size_t host_operations = 0;    ///< computations of the host, which are left out
  std::size_t small_collectives = 0;  ///< of few bytes among ranks of several stages, which are left out
};

/// Puts the traces of all ranks together: who goes through the same collectives with the same ranks is told apart by
/// its place alone. `groups`: ranks by the names that collectives have for them; names that are in none, and empty
/// ones, are all ranks. `copies` above 0: the one trace is of rank 0, and so many ranks do the same, each with its own
/// groups. Throws std::runtime_error, in words, where ranks do not fit one another, groups are none of tensor ×
/// replicas × stages, or a single trace is of a job with more ranks.
RecordedStep recorded_step_of(const std::vector<formats::ChakraTrace>& ranks,
                              const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t copies = 0);

/// The file of it, which <timed-as file="…"/> takes. `precision`, by its name: seconds are of computing with nothing
/// beside it; empty: as they were measured.
std::string file_of_recorded_step(const std::string& name, const RecordedStep& step, const std::string& precision = {});

}  // namespace dadsim::study
