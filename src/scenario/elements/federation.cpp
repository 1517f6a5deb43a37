#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

std::vector<ElementRule> federation_rules() {
  return {element("federation", "Sites around a hub, each with a line of its own. There is a host hub.",
                  {attribute(
                      "name", text("", kPrefix),
                      "Stands with a dot before the names of its hosts; required where there are several clusters.")})
              .holds({"sites", "hub"})
              .repeats(),
          element("sites", "Sites with the same line.",
                  {attribute("name", text("", kPrefix),
                             "What the hosts are called: name-1, name-2 and so on with a count, else just name.")
                       .must(),
                   attribute("count", integer(1, 100'000), "How many. Left out, one, whose host has no number."),
                   attribute("up", name_in("links"),
                             "From the site: a bandwidth of the wire with its unit (10Mbps), or a link of the "
                             "catalogue (cable-up), which brings its own latency and transport.")
                       .must(),
                   attribute("down", name_in("links"), "To the site, as up.").must(),
                   attribute("latency", text(), "One way, with its unit, of both directions. Required for bandwidths."),
                   attribute("up-latency", text(), "One way, of the way up alone."),
                   attribute("down-latency", text(), "One way, of the way down alone."),
                   attribute("transport", one_of<spec::Transport>(),
                             "How bytes travel. Default: tcp for bandwidths; what the catalogue says for its links."),
                   attribute("efficiency", real(kPositiveShare),
                             "Share of the bandwidth that payload reaches. Default: 1448/1514 for tcp (headers at an "
                             "MTU of 1500 bytes), 1 for others; what the catalogue says for its links."),
                   attribute("queue", text(), "tcp: buffer in front of the line with its unit. Default 300kB."),
                   attribute("congestion", one_of({"cubic", "bbr"}),
                             "tcp: how senders share the line. bbr keeps queues short and loses nothing, as if the "
                             "queue never filled; it has no queue beside it.")
                       .otherwise("cubic"),
                   attribute("bandwidth-spread", real(kDeviation),
                             "How much lines differ: standard deviation of the logarithm of a site's factor on both "
                             "bandwidths, whose median is 1. From 0 to 3.")
                       .otherwise("0"),
                   attribute("latency-spread", real(kDeviation), "The same of both latencies.").otherwise("0")})
              .repeats(),
          element("hub", "The line of the hub. Without it the hub is never the limit.",
                  {attribute("up", name_in("links"),
                             "From the site: a bandwidth of the wire with its unit (10Mbps), or a link of the "
                             "catalogue (cable-up), which brings its own latency and transport.")
                       .must(),
                   attribute("down", name_in("links"), "To the site, as up.").must(),
                   attribute("latency", text(), "One way, with its unit, of both directions. Required for bandwidths."),
                   attribute("up-latency", text(), "One way, of the way up alone."),
                   attribute("down-latency", text(), "One way, of the way down alone."),
                   attribute("transport", one_of<spec::Transport>(),
                             "How bytes travel. Default: tcp for bandwidths; what the catalogue says for its links."),
                   attribute("efficiency", real(kPositiveShare),
                             "Share of the bandwidth that payload reaches. Default: 1448/1514 for tcp (headers at an "
                             "MTU of 1500 bytes), 1 for others; what the catalogue says for its links."),
                   attribute("queue", text(), "tcp: buffer in front of the line with its unit. Default 300kB."),
                   attribute("congestion", one_of({"cubic", "bbr"}),
                             "tcp: how senders share the line. bbr keeps queues short and loses nothing, as if the "
                             "queue never filled; it has no queue beside it.")
                       .otherwise("cubic")})};
}

}  // namespace dadsim::scenario
