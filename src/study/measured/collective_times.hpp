#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/measured/collective_log.hpp"

namespace dadsim::study {

/// What a log says of one collective among so many ranks.
struct CollectiveTimes {
  std::string test;  ///< of which it is; empty where neither the log nor the caller says
  std::vector<CollectiveLog::LoggedRow>
      rows;                          ///< one for each size, over all ranks; the median of what was measured of it
  std::vector<Diagnostic> warnings;  ///< what was left out, or measured several times
};

/// The rows of `test` ("all_reduce_perf"; empty: of the only one) among `ranks` in `log`, which `file` holds. Throws
/// InputError where it has none, or where several tables do not say what they are of.
CollectiveTimes times_of(const CollectiveLog& log, const std::string& file, const std::string& test, std::size_t ranks);

}  // namespace dadsim::study
