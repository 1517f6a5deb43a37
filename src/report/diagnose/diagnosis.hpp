#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// A measured time next to the expected one, seconds of a step or of a collective.
struct DiagnosedTime {
  double bytes = 0;          ///< bytes of a collective, as in nccl-tests; 0: a step
  std::int64_t devices = 0;  ///< devices that take part
  double measured = 0;
  double expected = 0;
  double low = 0, high = 0;  ///< interval of nine measurements in ten
};

/// A possible fault, and the times that it would cause.
struct Suspicion {
  Statement cause;                       ///< statement of kind "cause"
  std::vector<double> seconds;           ///< simulated seconds, per time
  std::optional<double> computing = {};  ///< simulated computing of a step; filled if a profile was measured
  double distance = 0;    ///< distance from the measured times, by which suspicions are ranked (docs/diagnose.md)
  bool explains = false;  ///< every measured time is in the suspicion's band
};

/// The comparison of measured times with the expectation, and possible faults.
struct Diagnosis : ReportHead {
  enum class SpeedVerdict : std::uint8_t { as_expected, slower, quicker };

  std::string of;      ///< timed workload or collective
  std::string source;  ///< origin of the measurement, as in the command line or the log
  bool collective = false;
  std::vector<DiagnosedTime> times;
  SpeedVerdict verdict = SpeedVerdict::as_expected;
  std::optional<double> computing;    ///< seconds of a step according to a profile
  std::vector<Suspicion> suspicions;  ///< explaining causes first, by distance; if all is normal, no others
  std::vector<Statement> free;        ///< causes that could take any time, with the required values
  std::vector<Statement> evidence;    ///< findings of a profile other than the time

  double measured() const;  ///< geometric mean over the times
  double expected() const;
  double low() const;
  double high() const;
};
const char* to_string(Diagnosis::SpeedVerdict verdict);
/// Returns the check that confirms or excludes a cause.
Statement check_of(const Suspicion& suspicion);

inline constexpr std::size_t kMostSuspicions = 6;  ///< suspicions listed on a terminal

/// Returns the verdict and, if the time is not normal, the best explanation.
std::vector<Statement> answer_of(const Diagnosis& diagnosis);
/// Returns the document; docs/diagnose.md documents every member.
Document document_of(const Diagnosis& diagnosis);

}  // namespace dadsim::report
