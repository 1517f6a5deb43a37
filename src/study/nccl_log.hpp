#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dadsim::study {

/// What nccl-tests (NVIDIA/nccl-tests; rccl-tests write the same) measured of one collective.
struct NcclLog {
  struct Row {
    double size = 0;                                    ///< bytes, as they count it: over all ranks
    double seconds = 0;                                 ///< out of place, or in place where that alone was measured
    double algorithm_bandwidth = 0, bus_bandwidth = 0;  ///< byte/s, as the log has them: with two decimals
    std::optional<double> in_place_seconds = {};
    int line = 0;  ///< of the file, from 1
  };
  std::string test;                  ///< "all_reduce_perf"; empty where the log does not say
  std::optional<std::size_t> ranks;  ///< where it lists them
  std::vector<Row> rows;             ///< of at least one byte, in the order of the log; of a size twice the first
};

/// Reads `text`, the content of `file`: the table of an nccl-tests log, whatever stands around it and whatever mpirun
/// has put before its lines ("[1,0]<stdout>:"). Its columns are found by their heading, which has changed over the
/// versions. Throws InputError where there is no table, a row does not fit its heading, or a time is none.
NcclLog read_nccl_log(const std::string& file, const std::string& text);

}  // namespace dadsim::study
