#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenario/read.hpp"

namespace dadsim::scenario {
namespace {

/// "'north', 'south' and 3 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t kTold = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kTold, names.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  }
  return names.size() > kTold ? fmt::format("{} and {} more", text, names.size() - kTold) : text;
}

/// That there is a worker for each site that the samples name.
void check_sites(const Node& node, std::size_t workers, const DataFindings& data) {
  if (data.classes == 0 || workers == 0) return;  // unknown because something is wrong
  if (data.sites.empty()) {
    node.fail_at("by", "needs samples that say of which site they are", "<csv> with site=\"…\" or files=\"…\"");
  } else if (data.sites.size() != workers) {
    node.fail(
        fmt::format("the data are of {} sites ({}), for {} workers", data.sites.size(), few_of(data.sites), workers),
        "a worker for each site, in this order, or another split, e.g. <split by=\"iid\"/>");
  }
}

}  // namespace

spec::SplitSpec read_split(const Element& element, std::size_t workers, const DataFindings& data,
                           spec::SplitSpec::Kind fallback, const ReadContext& context) {
  static const std::array<std::string, 6> kKinds = {"iid", "class", "dirichlet", "shards", "sizes", "site"};
  const Node node(element, context.findings);
  spec::SplitSpec split;
  split.kind = static_cast<spec::SplitSpec::Kind>(node.choice("by", kKinds, static_cast<std::size_t>(fallback)));
  const Attribute* by = element.find("by");
  const bool kind_known = by == nullptr || std::ranges::find(kKinds, by->value) != kKinds.end();
  if (!kind_known) return split;

  const std::string because = fmt::format("means nothing with by=\"{}\"", kKinds[static_cast<std::size_t>(split.kind)]);
  const auto count = static_cast<std::int64_t>(workers);
  const std::int64_t train = data.train;
  if (data.labels_per_sample > 1 && split.kind != spec::SplitSpec::Kind::iid &&
      split.kind != spec::SplitSpec::Kind::sizes) {
    node.fail_at("by", fmt::format("needs samples of one class; these have {} labels each", data.labels_per_sample),
                 "by=\"iid\" or by=\"sizes\"");
  } else if (split.kind == spec::SplitSpec::Kind::by_class && data.classes > 0 && count > data.classes) {
    node.fail(fmt::format("{} classes cannot be dealt to {} workers", data.classes, workers),
              "a class goes to one worker: at most as many workers as classes, or another split");
  }
  if (split.kind == spec::SplitSpec::Kind::by_site) check_sites(node, workers, data);
  if (split.kind == spec::SplitSpec::Kind::dirichlet) {
    split.alpha = node.real("alpha", {.minimum = 1e-3, .maximum = 1e6}, split.alpha);
  } else {
    node.refuse("alpha", because, "only by=\"dirichlet\" has it");
  }
  if (split.kind == spec::SplitSpec::Kind::shards) {
    split.shards = node.integer("shards", 1, 10000, split.shards);
    if (workers > 0 && train > 0 && split.shards * count > train) {
      node.fail(fmt::format("{} shards for each of {} workers are more than {} training samples", split.shards, workers,
                            train),
                "fewer shards");
    }
  } else {
    node.refuse("shards", because, "only by=\"shards\" has it");
  }
  if (split.kind == spec::SplitSpec::Kind::iid || split.kind == spec::SplitSpec::Kind::dirichlet) {
    split.size_spread = node.real("size-spread", {.minimum = 0, .maximum = 5}, split.size_spread);
    if (split.size_spread > 0) node.refuse("size-exponent", "stands beside size-spread", "one of the two");
    split.size_exponent = node.real("size-exponent", {.minimum = 0, .maximum = 5}, split.size_exponent);
  } else {
    for (const char* attribute : {"size-spread", "size-exponent"}) {
      node.refuse(attribute, because, "only by=\"iid\" and by=\"dirichlet\" have it");
    }
  }
  if (split.kind != spec::SplitSpec::Kind::sizes) {
    node.refuse("sizes", because, "only by=\"sizes\" has it");
    return split;
  }
  split.sizes = node.integers("sizes", 1, kMaxSamples);
  if (split.sizes.empty() || workers == 0) return split;
  if (split.sizes.size() != workers) {
    node.fail_at("sizes", fmt::format("holds {} numbers", split.sizes.size()),
                 fmt::format("one for each of the {} workers", workers));
    return split;
  }
  std::int64_t sum = 0;  // at most 1e5 workers × 1e9 samples
  for (const std::int64_t size : split.sizes) sum += size;
  if (train > 0 && sum > train)
    node.fail_at("sizes", fmt::format("adds up to {}", sum), fmt::format("at most the {} training samples", train));
  return split;
}

}  // namespace dadsim::scenario
