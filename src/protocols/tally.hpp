#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "world/history.hpp"
#include "world/world.hpp"

namespace dadsim::protocols {

/// What a protocol says of itself while it plays: for the answer, and for nothing that it decides.
struct Tally {
  /// A model that there was to be used from a time on, and is evaluated.
  struct Version {
    double at = 0;             ///< seconds
    std::int64_t updates = 0;  ///< rounds, or updates of the model, until then
    double samples = 0;        ///< trained with until then, worth something or not
    double bytes = 0;          ///< sent by all nodes until then
    world::Value quality;      ///< scalars loss, accuracy, auc
  };
  std::vector<Version> versions;
  world::Value last;  ///< weights of the last of them

  std::int64_t updates = 0;   ///< of the model, or rounds
  double samples = 0;         ///< that participants have trained with
  std::int64_t asked = 0;     ///< times that a client was asked to take part; of asynchronous ones, that it began
  std::int64_t answered = 0;  ///< of these, how often its contribution went into a model
  std::int64_t late = 0;      ///< came after the deadline, or was not waited for
  std::int64_t failed = 0;    ///< never came: a host or link went down, or the client dropped out
  std::int64_t retried = 0;   ///< sent again after a failure
  std::int64_t restored = 0;  ///< times that a participant went on from a checkpoint
  double lost_work = 0;       ///< seconds of computing since such checkpoints
  double wasted_seconds = 0;  ///< computing whose result went into no model
  double wasted_bytes = 0;    ///< of messages whose content went into no model
  std::map<std::int64_t, std::int64_t>
      staleness;  ///< updates of the model between what was read and what was written → how often
  std::vector<std::int64_t> took_part;  ///< per site: how often its contribution went into a model
  std::map<std::string, double> facts;  ///< what this protocol alone has to say: a number by its name
  /// In a round: a client's part in it.
  struct Part {
    enum class End : std::uint8_t { used, late, failed };
    std::int64_t round = 0;
    world::Node client = -1;
    double asked = 0, ended = 0;  ///< seconds
    End end = End::used;
  };
  std::vector<Part> parts;  ///< in the order of their ends; kMostParts at most
  static constexpr std::size_t kMostParts = 200'000;

  double first_update_at = -1;  ///< seconds; −1: there was none
};

}  // namespace dadsim::protocols
