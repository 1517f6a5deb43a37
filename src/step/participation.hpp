#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::step {

/// Participants of an event-driven run and their results, counted by its protocol.
struct Participation {
  std::int64_t updates = 0;   ///< updates of the model, or rounds
  double samples = 0;         ///< samples that participants have trained with
  std::int64_t asked = 0;     ///< times that a client was asked to take part; for asynchronous ones, that it began
  std::int64_t answered = 0;  ///< those whose contribution entered a model
  std::int64_t late = 0;      ///< arrived after the deadline, or was not waited for
  std::int64_t failed = 0;    ///< never arrived: a host or link went down, or the client dropped out
  std::int64_t retried = 0;   ///< sent again after a failure
  std::int64_t restored = 0;  ///< times that a participant continued from a checkpoint of the protocol
  double lost_work = 0;       ///< seconds of computing since such checkpoints
  double wasted_seconds = 0;  ///< computing whose result entered no model
  double wasted_bytes = 0;    ///< messages whose content entered no model
  std::map<std::int64_t, std::int64_t> staleness;  ///< updates of the model between reading and writing → count
  std::vector<std::int64_t> took_part;             ///< per site: times that its contribution entered a model
  std::map<std::string, double> facts;             ///< figures that only this protocol reports, by name
  /// A client's part in a round.
  struct Part {
    enum class End : std::uint8_t { used, late, failed };
    std::int64_t round = 0;
    std::int32_t client = -1;
    double asked = 0, ended = 0;  ///< seconds
    End end = End::used;
  };
  std::vector<Part> parts;  ///< in the order of their ends; kMostParts at most
  static constexpr std::size_t kMostParts = 200'000;

  /// Clients at work: those in a round, or those that work at the same time. Missing if all clients always work.
  struct AtWork {
    double clients = 0;  ///< number since `since`, seconds
    double since = 0;
    double client_seconds = 0;  ///< before `since`
  };
  std::optional<AtWork> at_work = {};
  /// Sets the number of clients at work from now on; the first call also sets it for the time before.
  void set_at_work(double now, std::size_t clients);
  double mean_at_work(double seconds, double all) const;  ///< until the end; `all`: all clients

  double first_update_at = -1;  ///< seconds; −1: there was none

  double share_used() const;      ///< contributions that entered a model ÷ parts begun; NaN without any
  double mean_staleness() const;  ///< NaN if the protocol counts none
};
constexpr auto names_of(Participation::Part::End) {
  using enum Participation::Part::End;
  return std::to_array<spec::Name<Participation::Part::End>>({{used, "used"}, {late, "late"}, {failed, "failed"}});
}
using spec::to_string;

}  // namespace dadsim::step
