#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// A measured time and the expected one, seconds of a step or of a collective.
struct DiagnosedTime {
  double bytes = 0;          ///< bytes of a collective, as in nccl-tests; 0: a step
  std::int64_t devices = 0;  ///< devices used
  double measured = 0;
  double expected = 0;
  double low = 0, high = 0;  ///< interval of nine measurements in ten, seconds
};

/// A possible fault, and the times that it would cause.
struct Suspicion {
  Statement cause;                       ///< statement of kind "cause"
  std::vector<double> seconds;           ///< simulated seconds of each measured time
  std::optional<double> computing = {};  ///< simulated computing seconds of a step; filled if a profile was measured
  double distance = 0;                   ///< distance from the measured times; ranks suspicions (docs/diagnose.md)
  bool explains = false;                 ///< true: every measured time is in the suspicion's band
};

/// The comparison of measured times with the expectation, and possible faults.
struct Diagnosis : ReportHead {
  enum class SpeedVerdict : std::uint8_t { as_expected, slower, quicker };

  std::string of;      ///< name of the timed workload or collective
  std::string source;  ///< origin of the measurement, as in the command line or the log
  bool collective = false;
  std::vector<DiagnosedTime> times;
  SpeedVerdict verdict = SpeedVerdict::as_expected;
  std::optional<double> computing;    ///< computing seconds of a step, from a profile
  std::vector<Suspicion> suspicions;  ///< first those that explain the times, by distance; if all is normal, only these
  std::vector<Statement> free;        ///< causes of unlimited effect, with the size that would explain the times
  std::vector<Statement> evidence;    ///< findings of a profile in addition to times

  double measured() const;  ///< geometric mean of the measured times
  double expected() const;
  double low() const;
  double high() const;
};
const char* to_string(Diagnosis::SpeedVerdict verdict);
/// Returns the check that confirms or excludes a cause.
Statement check_of(const Suspicion& suspicion);

inline constexpr std::size_t kMostSuspicions = 6;  ///< largest number of suspicions listed on a terminal

/// Returns the verdict and, if the time is not normal, the best explanation.
std::vector<Statement> answer_of(const Diagnosis& diagnosis);
/// Returns the document; docs/diagnose.md documents every member.
Document document_of(const Diagnosis& diagnosis);

}  // namespace dadsim::report
