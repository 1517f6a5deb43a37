#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// A time that was measured beside what was to be expected. Seconds, of a step or of a collective.
struct DiagnosedTime {
  double bytes = 0;          ///< of a collective, as nccl-tests count them; 0: a step
  std::int64_t devices = 0;  ///< that take part
  double measured = 0;
  double expected = 0;
  double low = 0, high = 0;  ///< between which nine of ten are
};

/// Something that may be wrong, and what it would make of the times.
struct Suspicion {
  Statement cause;                       ///< "cause"
  std::vector<double> seconds;           ///< per time, as simulated
  std::optional<double> computing = {};  ///< of a step, as simulated; where a profile says what was measured
  double distance = 0;                   ///< from what was measured, by which they are ranked (docs/diagnose.md)
  bool explains = false;                 ///< what was measured is in its band, of every time
};

/// Whether what was measured is normal, and what may be wrong where it is not.
struct Diagnosis : ReportHead {
  enum class Verdict : std::uint8_t { as_expected, slower, quicker };

  std::string of;      ///< what was timed: a workload, or a collective
  std::string source;  ///< where the measurement is from, as the command line or the log has it
  bool collective = false;
  std::vector<DiagnosedTime> times;
  Verdict verdict = Verdict::as_expected;
  std::optional<double> computing;  ///< seconds of a step, by a profile
  std::vector<Suspicion>
      suspicions;                   ///< those that explain it first, the nearest first; where all is normal those alone
  std::vector<Statement> free;      ///< causes that could take any time, with what each would have to be
  std::vector<Statement> evidence;  ///< what a profile says beside the time

  double measured() const;  ///< geometric means over the times
  double expected() const;
  double low() const;
  double high() const;
};
const char* to_string(Diagnosis::Verdict verdict);
/// The statement of what tells whether it is that cause.
Statement check_of(const Suspicion& suspicion);

inline constexpr std::size_t kMostSuspicions = 6;  ///< that are listed on a terminal

/// Whether it is normal; where not, what explains it best.
std::vector<Statement> answer_of(const Diagnosis& diagnosis);
/// Every member is documented in docs/diagnose.md.
Document document_of(const Diagnosis& diagnosis);

}  // namespace dadsim::report
