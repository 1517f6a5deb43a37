#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"

namespace dadsim::step {

/// Who took part in an event-driven run, and what became of it: what its protocol counts while it runs.
struct Participation {
  std::int64_t updates = 0;   ///< of the model, or rounds
  double samples = 0;         ///< that participants have trained with
  std::int64_t asked = 0;     ///< times that a client was asked to take part; of asynchronous ones, that it began
  std::int64_t answered = 0;  ///< of these, how often its contribution went into a model
  std::int64_t late = 0;      ///< came after the deadline, or was not waited for
  std::int64_t failed = 0;    ///< never came: a host or link went down, or the client dropped out
  std::int64_t retried = 0;   ///< sent again after a failure
  std::int64_t restored = 0;  ///< times that a participant went on from a checkpoint of the protocol
  double lost_work = 0;       ///< seconds of computing since such checkpoints
  double wasted_seconds = 0;  ///< computing whose result went into no model
  double wasted_bytes = 0;    ///< of messages whose content went into no model
  std::map<std::int64_t, std::int64_t>
      staleness;  ///< updates of the model between what was read and what was written → how often
  std::vector<std::int64_t> took_part;  ///< per site: how often its contribution went into a model
  std::map<std::string, double> facts;  ///< what this protocol alone reports: a number by its name
  /// In a round: a client's part in it.
  struct Part {
    enum class End : std::uint8_t { used, late, failed };
    std::int64_t round = 0;
    std::int32_t client = -1;
    double asked = 0, ended = 0;  ///< seconds
    End end = End::used;
  };
  std::vector<Part> parts;  ///< in the order of their ends; kMostParts at most
  static constexpr std::size_t kMostParts = 200'000;

  /// Clients at work: those in a round, or at work at the same time. None: all are, all of the time.
  struct AtWork {
    double clients = 0;  ///< since `since`, seconds
    double since = 0;
    double client_seconds = 0;  ///< before that
  };
  std::optional<AtWork> at_work = {};
  /// So many are at work from now on; at the first call: and have been from the beginning.
  void set_at_work(double now, std::size_t clients);
  double mean_at_work(double seconds, double all) const;  ///< until the end, of `all`

  double first_update_at = -1;  ///< seconds; −1: there was none

  double share_used() const;      ///< contributions that went into a model ÷ parts begun; NaN where none was begun
  double mean_staleness() const;  ///< NaN where the protocol counts none
};
constexpr auto names_of(Participation::Part::End) {
  using enum Participation::Part::End;
  return std::to_array<spec::Name<Participation::Part::End>>({{used, "used"}, {late, "late"}, {failed, "failed"}});
}
using spec::to_string;

}  // namespace dadsim::step
