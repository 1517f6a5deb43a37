#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/process/child_process.hpp"
#include "sim/simulator.hpp"
#include "sim/step/step_without.hpp"
#include "spec/bytes.hpp"
#include "support/statement_bytes.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {

/// Topic of a message from the child that times steps; the first byte of the message.
enum class TimingTopic : std::uint8_t {
  timing,          ///< timing of the next schedule
  traffic,         ///< traffic of a kind of schedule that is not simulated
  first,           ///< timing of the first schedule on cold connections
  first_steps,     ///< dates at which the first steps of a run without a barrier end
  collective,      ///< the next collective's timing
  network,         ///< description of the network and its simulation: the last message
  timeline,        ///< timeline of the next schedule, before its timing
  first_timeline,  ///< timeline of the first schedule on cold connections
  failure,         ///< text of an error: the last message
};
constexpr TimingTopic last_of(TimingTopic /*type*/) { return TimingTopic::failure; }

void fields(auto& bytes, of<CollectiveTiming> auto& timing) {
  bytes(timing.algorithm, timing.fidelity, timing.seconds, timing.cold_seconds, timing.messages, timing.compared,
        timing.protocol, timing.quicker, timing.sent, timing.received);
}

void fields(auto& bytes, of<SecondsWithout> auto& without) {
  bytes(without.computing, without.network, without.framework);
}

void fields(auto& bytes, of<StepWithout> auto& step) { bytes(step.place, step.seconds, step.cold); }

inline WireWriter about(TimingTopic topic) {
  WireWriter message;
  message << topic;
  return message;
}

/// Reads the topic of a message, and leaves the reader after it. Returns nothing for an error, whose text is stored in
/// `failure`.
std::optional<TimingTopic> topic_of(WireReader& message, std::string& failure);

/// Reports an error and ends the child, in which other actors would wait forever.
[[noreturn]] void fail(const MessageSink& sink, std::string_view words);

}  // namespace dadsim::sim
