#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"

namespace dadsim::scenario {
namespace {

/// A <pair> as written, for one direction or both.
struct GivenPair {
  spec::WanSpec::Pair pair;
  bool one_way = false;
};

const Table<GivenPair>& pair_table() {
  using Spec = GivenPair;
  static const Table<Spec> kTable =
      Table<Spec>(
          "pair", "The connection between two regions or clusters.",
          {within(&Spec::pair, attribute("from", &spec::WanSpec::Pair::from, text()).must().by_reader()),
           within(&Spec::pair, attribute("to", &spec::WanSpec::Pair::to, text()).must().by_reader()),
           within(&Spec::pair,
                  attribute("bandwidth", &spec::WanSpec::Pair::bandwidth, quantity(kBandwidthForm)).must()),
           within(&Spec::pair,
                  attribute("round-trip", &spec::WanSpec::Pair::round_trip, quantity(kLatencyForm)).must()),
           attribute("one-way", &Spec::one_way),
           within(&Spec::pair, attribute("transport", &spec::WanSpec::Pair::transport)),
           printed_as<Spec>(queue_rule(), [](const Spec& given) { return fmt::format("{}B", given.pair.queue_bytes); })
               .printed_if([](const Spec& given) {
                 return given.pair.transport == spec::Transport::tcp && !given.pair.is_goodput;
               })
               .if_left_out("none with `measured=\"goodput\"`; `300kB` with `measured=\"wire\"`"),
           by_code<Spec>(congestion_rule()),
           by_code<Spec>(measured_rule().if_left_out("`wire` with `queue`, else `goodput`")),
           printed_as<Spec>(per_connection_rule(),
                            [](const Spec& given) { return fmt::format("{}Bps", given.pair.per_connection); })
               .printed_if([](const Spec& given) { return given.pair.per_connection > 0; })})
          .repeats();
  return kTable;
}

}  // namespace

GivenPairs::GivenPairs(const Node& parent, std::vector<std::string> ends, const std::string& noun,
                       const ReadContext& context)
    : ends_(std::move(ends)), pairs_(ends_.size() * ends_.size()) {
  for (const Element* element : parent.children("pair")) read(*element, noun, context);
}

void GivenPairs::read(const Element& element, const std::string& noun, const ReadContext& context) {
  const Node node(element, context.findings);
  const auto end = [&](const char* attribute, const char* other) -> std::optional<std::size_t> {
    const std::optional<std::string> name = node.required_text(attribute, fmt::format("the name of a {}", noun));
    if (!name) return std::nullopt;
    const auto found = std::ranges::find(ends_, *name);
    if (found != ends_.end()) return static_cast<std::size_t>(found - ends_.begin());
    std::vector<std::string> meant = ends_;  // candidates without the other end, because the ends of a pair differ
    std::erase(meant, node.text(other, ""));
    node.fail_at(attribute, fmt::format("is no {} here", noun), context.findings.suggest(*name, meant));
    return std::nullopt;
  };
  const std::optional<std::size_t> from = end("from", "to");
  const std::optional<std::size_t> to = end("to", "from");
  GivenPair given_pair;
  pair_table().read(node, context, given_pair);
  auto& [pair, one_way] = given_pair;
  const bool tcp = pair.transport == spec::Transport::tcp;
  pair.queue_bytes = read_queue(node, tcp, pair.transport).value_or(pair.queue_bytes);
  // A measured line between regions is a goodput by default, and its queue is unknown.
  const bool usual = !node.has("queue") && !node.has("congestion");
  const MeasuredRow measured = read_measured(node, tcp, usual, pair.transport);
  pair.is_goodput = measured.is_goodput;
  pair.per_connection = measured.per_connection;
  if (!from || !to) {
    unclear_ = true;
    return;
  }
  if (*from == *to) {
    node.fail_at("to", "is the same as 'from'", fmt::format("use two different {}s", noun));
    return;
  }
  const auto give = [&, &pair = pair](std::size_t a, std::size_t b) {
    std::optional<spec::WanSpec::Pair>& given = at(a, b);
    if (given) {
      node.fail(fmt::format("a second <pair> from '{}' to '{}'", printable(ends_[a]), printable(ends_[b])),
                "use each direction once; a pair covers both unless one-way=\"true\"");
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
  return {there && back ? fmt::format("<pair> between '{}' and '{}' is missing", from, to)
                        : fmt::format("<pair> from '{}' to '{}' is missing", from, to),
          fmt::format("add <pair from=\"{}\" to=\"{}\" bandwidth=\"…\" round-trip=\"…\"{}/>", from, to,
                      there && back ? "" : " one-way=\"true\"")};
}

/// Prints both directions as one pair if their numbers are equal.
void write_pairs(XmlWriter& xml, const std::vector<spec::WanSpec::Pair>& pairs) {
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (std::size_t i = 0; i < pairs.size(); ++i) index.emplace(std::pair(pairs[i].from, pairs[i].to), i);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const spec::WanSpec::Pair& pair = pairs[i];
    const auto back = index.find(std::pair(pair.to, pair.from));
    const bool symmetrical =
        back != index.end() && pairs[back->second].bandwidth == pair.bandwidth &&
        pairs[back->second].round_trip == pair.round_trip && pairs[back->second].transport == pair.transport &&
        pairs[back->second].queue_bytes == pair.queue_bytes && pairs[back->second].is_goodput == pair.is_goodput &&
        pairs[back->second].per_connection == pair.per_connection;
    if (!symmetrical || back->second > i) pair_table().print(xml, {pair, !symmetrical}, {});
  }
}

std::vector<ElementRule> pairs_rules() { return {pair_table().rule()}; }

}  // namespace dadsim::scenario
