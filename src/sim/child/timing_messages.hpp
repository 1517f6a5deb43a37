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

/// What a message of the child that times is about: its first byte.
enum class TimingTopic : std::uint8_t {
  timing,          ///< of the next schedule
  traffic,         ///< of a kind that is not simulated
  first,           ///< the first schedule on cold connections
  first_steps,     ///< of a run without a barrier: when they were done
  collective,      ///< the next collective's timing
  network,         ///< how it was simulated: the last message
  timeline,        ///< of the next schedule, before its timing
  first_timeline,  ///< of the first schedule on cold connections
  failure,         ///< in words: the last message
};
constexpr TimingTopic last_of(TimingTopic /*type*/) { return TimingTopic::failure; }

void fields(auto& bytes, of<CollectiveTiming> auto& timing) {
  bytes(timing.algorithm, timing.fidelity, timing.seconds, timing.cold_seconds, timing.messages, timing.compared,
        timing.protocol, timing.quicker);
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

/// What a message is about, whose reader then stands behind that; none where it is of a failure, whose words are then
/// in `failure`.
std::optional<TimingTopic> topic_of(WireReader& message, std::string& failure);

/// Says what went wrong and ends the child: what other actors wait for will not come any more.
[[noreturn]] void fail(const MessageSink& sink, std::string_view words);

}  // namespace dadsim::sim
