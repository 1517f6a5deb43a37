#include "scenario/elements/link_rows.hpp"

namespace dadsim::scenario {

std::string link_text(const spec::LinkSpec& link) {
  return is_own_link(link) ? fmt::format("{}Bps", link.bandwidth) : link.name;
}

AttributeRule congestion_rule() { return attribute("congestion", one_of({"cubic", "bbr"})).otherwise("cubic"); }

AttributeRule measured_rule() { return attribute("measured", one_of({"wire", "goodput"})); }

AttributeRule per_connection_rule() { return attribute("per-connection", quantity(kBandwidthForm)); }

AttributeRule queue_rule() { return attribute("queue", quantity(kQueueForm)); }

bool one_queue(const spec::LinkSpec& up, const spec::LinkSpec& down) {
  const bool up_queues = up.transport == spec::Transport::tcp;
  const bool down_queues = down.transport == spec::Transport::tcp;
  return up_queues != down_queues || (up_queues && up.queue_bytes == down.queue_bytes);
}

bool is_goodput(const spec::LinkSpec& up, const spec::LinkSpec& down) { return up.is_goodput || down.is_goodput; }

double shared_queue(const spec::LinkSpec& up, const spec::LinkSpec& down) {
  return up.transport == spec::Transport::tcp ? up.queue_bytes : down.queue_bytes;
}

}  // namespace dadsim::scenario
