#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

std::vector<ElementRule> wan_rules() {
  return {element("wan",
                  "Regions joined pairwise, as cloud regions are. Hosts are called region-1, region-2 and so on. Pairs "
                  "of regions of the public table may be left out.",
                  {attribute("name", text("", kPrefix), "Stands with a dot before the names of its hosts."),
                   attribute("host", text(),
                             "How each host hangs on the switch of its region: a link of the catalogue. Or "
                             "host-bandwidth and host-latency."),
                   attribute("host-bandwidth", text(), "Of each host, both ways, with its unit; over TCP."),
                   attribute("host-latency", text(), "One way, with its unit; required with host-bandwidth."),
                   attribute("queue", text(), "tcp: buffer in front of each link with its unit. Default 300kB."),
                   attribute("congestion", one_of({"cubic", "bbr"}),
                             "tcp: how senders share the line. bbr keeps queues short and loses nothing, as if the "
                             "queue never filled; it has no queue beside it.")
                       .otherwise("cubic")})
              .holds({"region", "pair"}),
          element("region", "Hosts in one place.",
                  {attribute("name", text("", kPrefix),
                             "A region of the public table, e.g. aws:us-east-1, or a name of your own.")
                       .must(),
                   attribute("hosts", integer(1, 100'000), "How many.").must()})
              .repeats(),
          element("pair", "What lies between two regions, or between two clusters.",
                  {attribute("from", text(), "Name of a region or cluster.").must(),
                   attribute("to", text(), "Name of another.").must(),
                   attribute("bandwidth", text(), "With its unit.").must(),
                   attribute("round-trip", text(), "There and back, with its unit.").must(),
                   attribute("one-way", truth(), "Whether the numbers are of this direction alone.").otherwise("false"),
                   attribute("transport", one_of<spec::Transport>(), "How bytes travel.").otherwise("tcp"),
                   attribute("queue", text(), "tcp: buffer in front of the line with its unit. Default 300kB."),
                   attribute("congestion", one_of({"cubic", "bbr"}),
                             "tcp: how senders share the line. bbr keeps queues short and loses nothing, as if the "
                             "queue never filled; it has no queue beside it.")
                       .otherwise("cubic")})
              .repeats()};
}

}  // namespace dadsim::scenario
