#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What a benchmark of collectives measured (collective_columns.hpp lists which are read): a table for each of its
/// runs.
struct CollectiveLog {
  struct LoggedRow {
    double size = 0;                              ///< bytes, as the benchmark counts them
    double seconds = 0;                           ///< out of place, or in place where that alone was measured
    std::optional<double> in_place_seconds = {};  ///< where both were measured
    int line = 0;                                 ///< of the file, from 1
  };
  struct LoggedTable {
    std::string test;                  ///< as nccl-tests call it: "all_reduce_perf"; empty where the log does not say
    std::optional<std::size_t> ranks;  ///< where it lists them
    std::vector<LoggedRow> rows;       ///< of at least one byte, in the order of the log
    int line = 0;                      ///< of its heading
    bool of_messages = false;          ///< sizes of operations with blocks are of one block, not over all ranks
  };
  std::vector<LoggedTable> tables;   ///< at least one, each with a row
  std::vector<Diagnostic> warnings;  ///< rows that are left out
};

/// Reads `text`, the content of `file`: the tables in it, whatever stands around them and whatever has been put before
/// their lines: the task by srun ("0: "), mpirun ("[1,0]<stdout>:", "[0] "), pdsh ("node1: ") or docker, a time by
/// Kubernetes. Columns are found by their heading. A row that a line of a library cuts (NCCL_DEBUG=INFO) goes on below;
/// where it does not it is left out with a warning. Throws InputError where there is no table or no whole row, a time
/// is none or not that of its bandwidth, or the results that were measured are wrong.
CollectiveLog read_collective_log(const std::string& file, const std::string& text);
/// The same; nothing where there is no heading of a benchmark that is known.
std::optional<CollectiveLog> find_collective_log(const std::string& file, const std::string& text);

}  // namespace dadsim::study
