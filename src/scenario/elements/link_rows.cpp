#include "scenario/elements/link_rows.hpp"

namespace dadsim::scenario {

std::string link_text(const spec::LinkSpec& link) {
  return is_own_link(link) ? fmt::format("{}Bps", link.bandwidth) : link.name;
}

AttributeRule congestion_rule() {
  return attribute("congestion", one_of({"cubic", "bbr"}),
                   "tcp: how senders share the line. bbr keeps queues short and loses nothing, as if the queue never "
                   "filled; it has no queue beside it.")
      .otherwise("cubic");
}

AttributeRule queue_rule(std::string words) { return attribute("queue", quantity(kQueueForm), std::move(words)); }

bool one_queue(const spec::LinkSpec& up, const spec::LinkSpec& down) {
  const bool up_queues = up.transport == spec::Transport::tcp;
  const bool down_queues = down.transport == spec::Transport::tcp;
  return up_queues != down_queues || (up_queues && up.queue_bytes == down.queue_bytes);
}

double shared_queue(const spec::LinkSpec& up, const spec::LinkSpec& down) {
  return up.transport == spec::Transport::tcp ? up.queue_bytes : down.queue_bytes;
}

}  // namespace dadsim::scenario
