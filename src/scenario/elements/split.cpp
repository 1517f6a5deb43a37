#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

/// Returns for example "'north', 'south' and 3 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t kListed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kListed, names.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  }
  return names.size() > kListed ? fmt::format("{} and {} more", text, names.size() - kListed) : text;
}

/// Checks that the number of workers equals the number of sites that samples name.
void check_sites(const Node& node, std::size_t workers, const DataFindings& data) {
  if (data.classes == 0 || workers == 0) return;  // unknown because of an earlier fault
  if (data.sites.empty()) {
    node.fail_at("by", "needs samples that name their site", "use <csv> with site=\"…\" or files=\"…\"");
  } else if (data.sites.size() != workers) {
    node.fail(fmt::format("the data have {} sites ({}), but there are {} workers", data.sites.size(),
                          few_of(data.sites), workers),
              "use one worker per site, in this order, or another split, e.g. <split by=\"iid\"/>");
  }
}

}  // namespace

const Table<spec::SplitSpec>& split_table() {
  using Spec = spec::SplitSpec;
  static const Table<Spec> kTable =
      Table<Spec>("split", "The division of the training samples among workers.",
                  {attribute("by", &Spec::kind).without_default(),
                   attribute("alpha", &Spec::alpha, real({.minimum = 0.001, .maximum = 1e6}))
                       .only_with("by", &Spec::kind, {Spec::Kind::dirichlet}, "set by=\"dirichlet\", or remove it"),
                   attribute("shards", &Spec::shards, integer(1, 10'000))
                       .only_with("by", &Spec::kind, {Spec::Kind::shards}, "set by=\"shards\", or remove it"),
                   attribute("sizes", &Spec::sizes, integers(1, kMaxSamples))
                       .only_with("by", &Spec::kind, {Spec::Kind::sizes}, "set by=\"sizes\", or remove it")
                       .needed(),
                   attribute("size-spread", &Spec::size_spread, real({.minimum = 0, .maximum = 5}))
                       .only_with("by", &Spec::kind, {Spec::Kind::iid, Spec::Kind::dirichlet},
                                  "set by=\"iid\" or by=\"dirichlet\", or remove it")
                       .if_given(),
                   attribute("size-exponent", &Spec::size_exponent, real({.minimum = 0, .maximum = 5}))
                       .only_with("by", &Spec::kind, {Spec::Kind::iid, Spec::Kind::dirichlet},
                                  "set by=\"iid\" or by=\"dirichlet\", or remove it")
                       .if_given()});
  return kTable;
}

spec::SplitSpec read_split(const Element& element, std::size_t workers, const DataFindings& data,
                           spec::SplitSpec::Kind fallback, const ReadContext& context) {
  using enum spec::SplitSpec::Kind;
  const Node node(element, context.findings);
  spec::SplitSpec split;
  split.kind = fallback;
  split_table().read(node, context, split);
  if (node.has("by") && !spec::parse<spec::SplitSpec::Kind>(node.text("by", ""))) return split;

  const auto count = static_cast<std::int64_t>(workers);
  const std::int64_t train = data.train;
  if (data.labels_per_sample > 1 && split.kind != iid && split.kind != sizes) {
    node.fail_at("by", fmt::format("needs samples of one class, but each sample has {} labels", data.labels_per_sample),
                 "use by=\"iid\" or by=\"sizes\"");
  } else if (split.kind == by_class && data.classes > 0 && count > data.classes) {
    node.fail(fmt::format("{} classes cannot be divided among {} workers", data.classes, workers),
              "use at most as many workers as classes, or another split");
  }
  if (split.kind == by_site) check_sites(node, workers, data);
  if (split.kind == shards && workers > 0 && train > 0 && split.shards * count > train) {
    node.fail(
        fmt::format("{} shards for each of {} workers are more than {} training samples", split.shards, workers, train),
        "use fewer shards");
  }
  if (split.size_spread > 0)
    node.refuse("size-exponent", "cannot be combined with size-spread", "remove one of the two");
  if (split.sizes.empty() || workers == 0) return split;
  if (split.sizes.size() != workers) {
    node.fail_at("sizes", fmt::format("holds {} numbers", split.sizes.size()),
                 fmt::format("give one size for each of the {} workers", workers));
    return split;
  }
  std::int64_t sum = 0;  // at most 1e5 workers × 1e9 samples
  for (const std::int64_t size : split.sizes) sum += size;
  if (train > 0 && sum > train)
    node.fail_at("sizes", fmt::format("adds up to {}", sum), fmt::format("use at most the {} training samples", train));
  return split;
}

std::vector<ElementRule> split_rules() { return {split_table().rule()}; }

}  // namespace dadsim::scenario
