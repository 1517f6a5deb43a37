#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

std::vector<ElementRule> variation_rules() {
  return {
      element(
          "profile", "How a link changes while time passes.",
          {attribute("link", text(), "Its name in the platform; a * at the end stands for any rest.").must(),
           attribute("of", one_of<spec::PlatformSpec::Profile::Of>(), "What changes.").otherwise("bandwidth"),
           attribute("times", text(), "Seconds with their units and spaces between them, rising from 0s.").must(),
           attribute("factors", text(), "Of the value of the link from each of the times on; above 0.").must(),
           attribute("period", text(), "After which it starts again, with its unit. Left out, it is not repeated.")})
          .repeats(),
      element(
          "change", "What if links were faster or slower: a platform of a file, changed.",
          {attribute("link", text(), "A name of links, in which * stands for anything, or a class of the catalogue.")
               .must(),
           attribute("bandwidth-factor", real({.minimum = 0, .maximum = 1e9, .open_minimum = true}),
                     "Of their bandwidth, above 0.")
               .otherwise("1"),
           attribute("latency-factor", real(kPrice),
                     "Of their latency, from 0 on; what protocols and software take stays.")
               .otherwise("1")})
          .repeats(),
      element(
          "background", "Traffic of others: messages from one host to another from the start on.",
          {attribute("from", text(), "Name of a host.").must(), attribute("to", text(), "Name of another.").must(),
           attribute("bytes", text(), "Of each message, with their unit.").must(),
           attribute(
               "every", text(),
               "Between the starts of messages, with its unit. Left out, the next starts when the last is through.")})
          .repeats()};
}

}  // namespace dadsim::scenario
