#include "sim/child/timing_messages.hpp"

#include <cstdlib>

namespace dadsim::sim {

std::optional<TimingTopic> topic_of(WireReader& message, std::string& failure) {
  const auto topic = message.read<TimingTopic>();
  if (topic != TimingTopic::failure) return topic;
  message >> failure;
  return std::nullopt;
}

void fail(const MessageSink& sink, std::string_view words) {
  WireWriter message = about(TimingTopic::failure);
  message << words;
  sink.send(message.bytes());
  std::_Exit(1);
}

}  // namespace dadsim::sim
