#include <fmt/format.h>

#include <algorithm>

#include "scenario/quantity.hpp"
#include "scenario/read_link.hpp"
#include "scenario/read_platform.hpp"

namespace dadsim::scenario {

GivenPairs::GivenPairs(const Node& parent, std::vector<std::string> ends, const std::string& noun,
                       const ReadContext& context)
    : ends_(std::move(ends)), pairs_(ends_.size() * ends_.size()) {
  for (const Element* element : parent.children("pair")) read(*element, noun, context);
}

void GivenPairs::read(const Element& element, const std::string& noun, const ReadContext& context) {
  const Node node(element, context.findings);
  const auto end = [&](const char* attribute) -> std::optional<std::size_t> {
    const std::optional<std::string> name = node.required_text(attribute, fmt::format("the name of a {}", noun));
    if (!name) return std::nullopt;
    const auto found = std::ranges::find(ends_, *name);
    if (found != ends_.end()) return static_cast<std::size_t>(found - ends_.begin());
    node.fail_at(attribute, fmt::format("is no {} here", noun), context.findings.suggest(*name, ends_));
    return std::nullopt;
  };
  const std::optional<std::size_t> from = end("from");
  const std::optional<std::size_t> to = end("to");
  spec::WanSpec::Pair pair;
  pair.bandwidth = required_quantity(node, "bandwidth", kBandwidthForm, context.catalog).value_or(0);
  pair.round_trip = required_quantity(node, "round-trip", kLatencyForm, context.catalog).value_or(0);
  const bool one_way = node.boolean("one-way", false);
  pair.transport = static_cast<spec::Transport>(
      node.choice("transport", transport_names(), static_cast<std::size_t>(spec::Transport::tcp)));
  const bool tcp = pair.transport == spec::Transport::tcp;
  pair.queue_bytes = read_queue(node, tcp, pair.transport, context).value_or(pair.queue_bytes);
  if (!from || !to) {
    unclear_ = true;
    return;
  }
  if (*from == *to) {
    node.fail_at("to", "is where the pair comes from", fmt::format("two different {}s", noun));
    return;
  }
  const auto give = [&](std::size_t a, std::size_t b) {
    std::optional<spec::WanSpec::Pair>& given = at(a, b);
    if (given) {
      node.fail(fmt::format("a second <pair> from '{}' to '{}'", printable(ends_[a]), printable(ends_[b])),
                "each direction once; a pair stands for both unless one-way=\"true\"");
      return;
    }
    pair.from = ends_[a];
    pair.to = ends_[b];
    given = pair;
  };
  give(*from, *to);
  if (!one_way) give(*to, *from);
}

std::vector<spec::WanSpec::Pair> GivenPairs::take() const {
  std::vector<spec::WanSpec::Pair> all;
  for (const std::optional<spec::WanSpec::Pair>& pair : pairs_) {
    if (pair) all.push_back(*pair);
  }
  return all;
}

MissingPair missing_between(GivenPairs& pairs, std::size_t a, std::size_t b) {
  const bool there = !pairs.at(a, b);
  const bool back = !pairs.at(b, a);
  if (!there && !back) return {};
  const std::string from = printable(pairs.ends()[there ? a : b]);
  const std::string to = printable(pairs.ends()[there ? b : a]);
  return {there && back ? fmt::format("no numbers between '{}' and '{}'", from, to)
                        : fmt::format("no numbers from '{}' to '{}'", from, to),
          fmt::format("add <pair from=\"{}\" to=\"{}\" bandwidth=\"…\" round-trip=\"…\"{}/>", from, to,
                      there && back ? "" : " one-way=\"true\"")};
}

}  // namespace dadsim::scenario
