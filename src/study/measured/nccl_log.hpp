#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What nccl-tests (NVIDIA/nccl-tests; rccl-tests write the same) measured: a table for each of its runs.
struct NcclLog {
  struct Row {
    double size = 0;                                    ///< bytes, as they count it: over all ranks
    double seconds = 0;                                 ///< out of place, or in place where that alone was measured
    double algorithm_bandwidth = 0, bus_bandwidth = 0;  ///< byte/s, as the log has them: with two decimals
    std::optional<double> in_place_seconds = {};
    int line = 0;  ///< of the file, from 1
  };
  struct Table {
    std::string test;                  ///< "all_reduce_perf"; empty where the log does not say
    std::optional<std::size_t> ranks;  ///< where it lists them
    std::vector<Row> rows;             ///< of at least one byte, in the order of the log
    int line = 0;                      ///< of its heading
  };
  std::vector<Table> tables;  ///< at least one, each with a row
};

/// Reads `text`, the content of `file`: the tables of nccl-tests in it, whatever stands around them and whatever has
/// been put before their lines: the task by srun ("0: "), mpirun ("[1,0]<stdout>:", "[0] "), pdsh ("node1: ") or
/// docker, a time by Kubernetes. Columns are found by their heading, which has changed over the versions. Throws
/// InputError where there is no table, a row does not fit its heading, a time is none or not that of its bandwidth, or
/// the results that were measured are wrong.
NcclLog read_nccl_log(const std::string& file, const std::string& text);

/// What a log says of one collective among so many ranks.
struct NcclTimes {
  std::vector<NcclLog::Row> rows;    ///< one for each size; of a size that was measured several times the median
  std::vector<Diagnostic> warnings;  ///< what was measured several times
};

/// The rows of `test` ("all_reduce_perf"; empty: any) among `ranks` in `log`, which `file` holds. Throws InputError
/// where it has none, or where several tables do not say what they are of.
NcclTimes times_of(const NcclLog& log, const std::string& file, const std::string& test, std::size_t ranks);

}  // namespace dadsim::study
