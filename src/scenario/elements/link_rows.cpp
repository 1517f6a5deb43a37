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

AttributeRule measured_rule() {
  return attribute(
      "measured", one_of({"wire", "goodput"}),
      "tcp: what the bandwidth is. `wire`: the line's own, of which headers, windows and losses take their "
      "part. `goodput`: what iperf or a speed test got over the line, these in it: nothing is lost any "
      "more, and a connection gets `per-connection` at most.");
}

AttributeRule per_connection_rule() {
  return attribute("per-connection", quantity(kBandwidthForm),
                   "goodput: what one connection gets at most, with its unit; further ones share the rest of the "
                   "bandwidth. Left out, the window of `<network>` per round trip.");
}

AttributeRule queue_rule(std::string words) { return attribute("queue", quantity(kQueueForm), std::move(words)); }

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
