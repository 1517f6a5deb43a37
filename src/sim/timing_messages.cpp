#include "sim/timing_messages.hpp"

#include <cstdlib>

namespace dadsim::sim {

void fail(const MessageSink& sink, std::string_view words) {
  WireWriter message = about(TimingTopic::failure);
  message << words;
  sink.send(message.bytes());
  std::_Exit(1);
}

}  // namespace dadsim::sim
