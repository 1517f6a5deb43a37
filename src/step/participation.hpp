#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::step {

/// Counts of participants of an event-driven run, and of their contributions, made by the protocol.
struct Participation {
  std::int64_t updates = 0;   ///< updates of the model, or rounds
  double samples = 0;         ///< samples that participants have trained with
  std::int64_t asked = 0;     ///< requests to clients; with asynchronous clients, parts begun
  std::int64_t answered = 0;  ///< contributions that entered a model
  std::int64_t late = 0;      ///< contributions after the deadline, or not waited for
  std::int64_t failed = 0;    ///< contributions that never arrived: a host or link went down, or the client dropped out
  std::int64_t retried = 0;   ///< messages sent again after a failure
  std::int64_t restored = 0;  ///< restarts of participants from a checkpoint of the protocol
  double lost_work = 0;       ///< seconds of computing since these checkpoints
  double wasted_seconds = 0;  ///< seconds of computing whose result entered no model
  double wasted_bytes = 0;    ///< bytes of messages whose content entered no model
  std::map<std::int64_t, std::int64_t> staleness;  ///< number of contributions, by updates of the model between reading
                                                   ///< and writing
  std::vector<std::int64_t> took_part;             ///< contributions of each site that entered a model
  std::map<std::string, double> facts;             ///< figures that only this protocol reports, by name
  /// A client's part in a round.
  struct Part {
    enum class End : std::uint8_t { used, late, failed };
    std::int64_t round = 0;
    std::int32_t client = -1;
    double asked = 0, ended = 0;  ///< dates of request and end, seconds
    End end = End::used;
  };
  std::vector<Part> parts;  ///< sorted by end; kMostParts at most
  static constexpr std::size_t kMostParts = 200'000;

  /// Clients at work: those in a round, or those that work at the same time. Absent if all clients always work.
  struct AtWork {
    double clients = 0;  ///< number of clients at work from the date `since` (seconds) on
    double since = 0;
    double client_seconds = 0;  ///< integral of the number of clients until `since`
  };
  std::optional<AtWork> at_work = {};
  /// Sets the number of clients at work from now on; the first call also sets it for the time before `now`.
  void set_at_work(double now, std::size_t clients);
  double mean_at_work(double seconds, double all) const;  ///< mean until `seconds`; `all` if there is no record

  double first_update_at = -1;  ///< date in seconds; −1: no update

  double share_used() const;      ///< contributions that entered a model ÷ parts begun; NaN without parts
  double mean_staleness() const;  ///< mean in updates; NaN without records
};
constexpr auto names_of(Participation::Part::End) {
  using enum Participation::Part::End;
  return std::to_array<spec::Name<Participation::Part::End>>({{used, "used"}, {late, "late"}, {failed, "failed"}});
}
using spec::to_string;

}  // namespace dadsim::step
