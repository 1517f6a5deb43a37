#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "scenario/files.hpp"
#include "scenario/read.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kMaxSamples = 1'000'000'000;

DataFindings read_digits(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  const std::int64_t most = context.catalog.max_digits;
  DigitsSource digits;
  digits.train = node.integer("train", 1, most, digits.train);
  digits.test = node.integer("test", 1, most, digits.test);
  if (digits.train + digits.test > most) {
    node.fail(fmt::format("<digits> asks for {} samples", digits.train + digits.test),
              fmt::format("train and test together are at most {}", most));
  }
  return {{digits, {}}, digits.train, context.catalog.digit_classes, context.catalog.digit_features};
}

/// Absolute path of the file that an attribute names, or empty with a finding.
std::string data_file(const Node& node, const char* attribute, const ReadContext& context) {
  const std::optional<std::string> name = node.required_text(attribute, "the path of an IDX file");
  if (!name) return {};
  DataFile file = find_data_file(context.path, *name);
  if (file.path.empty()) node.fail_at(attribute, file.what, file.remedy);
  return file.path;
}

/// What the pair holds, or nullopt where it has been found wrong.
std::optional<Catalog::DataFacts> inspect(const std::string& images, const std::string& labels,
                                          const ReadContext& context) {
  if (images.empty() || labels.empty()) return std::nullopt;
  Catalog::DataFacts facts = context.catalog.inspect_idx(images, labels);
  for (Diagnostic& error : facts.errors) context.findings.add(std::move(error));
  if (!facts.errors.empty()) return std::nullopt;
  return facts;
}

DataFindings read_idx(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  IdxSource idx;
  idx.images = data_file(node, "images", context);
  idx.labels = data_file(node, "labels", context);
  const bool own_test = node.has("test-images") || node.has("test-labels");
  if (own_test) {
    idx.test_images = data_file(node, "test-images", context);
    idx.test_labels = data_file(node, "test-labels", context);
  }
  const std::optional<Catalog::DataFacts> train = inspect(idx.images, idx.labels, context);
  const std::optional<Catalog::DataFacts> test =
      own_test ? inspect(idx.test_images, idx.test_labels, context) : std::nullopt;

  const auto samples = [&](const char* attribute, const std::optional<Catalog::DataFacts>& facts) -> std::int64_t {
    if (own_test && !node.has(attribute)) {
      if (facts && facts->samples < 1)
        node.fail(fmt::format("the files for '{}' hold no samples", attribute), "at least one");
      return facts ? facts->samples : 0;
    }
    const std::optional<std::int64_t> asked = node.integer(attribute, 1, kMaxSamples);
    if (asked && own_test && facts && *asked > facts->samples) {
      node.fail_at(attribute, "is more than there is", fmt::format("the files hold {} samples", facts->samples));
    }
    return asked.value_or(0);
  };
  idx.train = samples("train", train);
  idx.test = samples("test", test);
  if (!own_test && train && idx.train + idx.test > train->samples) {
    node.fail(fmt::format("<idx> asks for {} + {} samples", idx.train, idx.test),
              fmt::format("the files hold {}; train and test together are at most that", train->samples));
  }

  DataFindings data{{idx, {}}, idx.train, 0, 0};
  if (train && (test || !own_test)) {
    data.classes = std::max(train->classes, test ? test->classes : 0);
    data.features = train->features;
    if (test && test->features != train->features) {
      node.fail(fmt::format("training images have {} pixels, test images {}", train->features, test->features),
                "both need the same size");
    }
  }
  return data;
}

SplitSpec read_split(const Element& element, std::size_t workers, const DataFindings& data,
                     const ReadContext& context) {
  static const std::array<std::string, 5> kKinds = {"iid", "class", "dirichlet", "shards", "sizes"};
  const Node node(element, context.findings);
  SplitSpec split;
  split.kind = static_cast<SplitSpec::Kind>(node.choice("by", kKinds, 0));
  const Attribute* by = element.find("by");
  const bool kind_known = by == nullptr || std::ranges::find(kKinds, by->value) != kKinds.end();
  if (!kind_known) return split;

  const std::string because = fmt::format("means nothing with by=\"{}\"", kKinds[static_cast<std::size_t>(split.kind)]);
  const auto count = static_cast<std::int64_t>(workers);
  const std::int64_t train = data.train;
  if (split.kind == SplitSpec::Kind::by_class && data.classes > 0 && count > data.classes) {
    node.fail(fmt::format("{} classes cannot be dealt to {} workers", data.classes, workers),
              "a class goes to one worker: at most as many workers as classes, or another split");
  }
  if (split.kind == SplitSpec::Kind::dirichlet) {
    split.alpha = node.real("alpha", {.minimum = 1e-3, .maximum = 1e6}, split.alpha);
  } else {
    node.refuse("alpha", because, "only by=\"dirichlet\" has it");
  }
  if (split.kind == SplitSpec::Kind::shards) {
    split.shards = node.integer("shards", 1, 10000, split.shards);
    if (workers > 0 && train > 0 && split.shards * count > train) {
      node.fail(fmt::format("{} shards for each of {} workers are more than {} training samples", split.shards, workers,
                            train),
                "fewer shards");
    }
  } else {
    node.refuse("shards", because, "only by=\"shards\" has it");
  }
  if (split.kind != SplitSpec::Kind::sizes) {
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

}  // namespace

DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context) {
  const Node node(element, context.findings);
  const Element* digits = node.child("digits");
  const Element* idx = node.child("idx");
  DataFindings data;
  if (digits == nullptr && idx == nullptr) node.fail("<data> lacks a source", "<digits> or <idx>");
  if (digits != nullptr && idx != nullptr) {
    const Element& later = &digits->origin < &idx->origin ? *idx : *digits;  // children stand in document order
    context.findings.add(later.origin, "<digits> and <idx> in <data>", "one source");
  }
  if (idx != nullptr) data = read_idx(*idx, context);
  if (digits != nullptr) data = read_digits(*digits, context);

  const auto count = static_cast<std::int64_t>(workers);
  if (data.train > 0 && data.train < count) {
    node.fail(fmt::format("{} training samples for {} workers", data.train, workers), "at least one for each");
  }
  if (const Element* split = node.child("split")) data.spec.split = read_split(*split, workers, data, context);
  return data;
}

}  // namespace dadsim
