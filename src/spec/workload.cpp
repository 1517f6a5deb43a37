#include "spec/workload.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/workloads.csv.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::spec {
namespace {

/// Returns a size as a number; for a choice, the index of its value.
std::int64_t size_in(const ParameterSpec& size, const std::string& text) {
  if (size.type == ParameterSpec::Type::choice) {
    const auto found = std::ranges::find(size.choices, text);
    if (found == size.choices.end()) throw std::invalid_argument("'" + size.name + "' is no choice: '" + text + "'");
    return found - size.choices.begin();
  }
  const auto value = parse_whole<std::int64_t>(text, static_cast<std::int64_t>(size.minimum));
  if (!value) throw std::invalid_argument("'" + size.name + "' is no size: '" + text + "'");
  return *value;
}

/// Throws if a size is not a divisor of another size as it must be.
void check_divides(const std::vector<std::string>& asked, const Sizes& sizes) {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [parts, whole] : {Pair{"heads", "hidden"}, Pair{"kv-heads", "heads"}, Pair{"patch", "image"}}) {
    if (!sizes.contains(parts) || !sizes.contains(whole)) continue;
    if (parts == std::string_view("heads") && sizes.contains("head-size") && sizes.at("head-size") > 0) continue;
    if (std::ranges::find(asked, parts) == asked.end() && std::ranges::find(asked, whole) == asked.end()) continue;
    if (sizes.at(whole) % sizes.at(parts) != 0)
      throw std::invalid_argument(std::string(parts) + " " + std::to_string(sizes.at(parts)) + " does not divide " +
                                  whole + " " + std::to_string(sizes.at(whole)));
  }
}

/// Throws for invalid numbers of experts.
void check_experts(const Sizes& sizes) {
  if (!sizes.contains("experts") || sizes.at("experts") == 0) return;
  if (sizes.at("experts-per-token") > sizes.at("experts"))
    throw std::invalid_argument("experts-per-token " + std::to_string(sizes.at("experts-per-token")) +
                                " is above experts " + std::to_string(sizes.at("experts")));
  if (sizes.at("expert-feed-forward") == 0)
    throw std::invalid_argument("experts need expert-feed-forward, the width of an expert");
}

Sizes sizes_in(const FactTable::Row& row) {
  Sizes sizes;
  for (const std::string& word : words_of(row.text("sizes"))) {
    const std::vector<std::string_view> parts = split_at(word, '=');
    const auto value = parts.size() == 2 ? parse_whole<std::int64_t>(parts[1], 0) : std::nullopt;
    if (!value || !sizes.emplace(parts[0], *value).second) row.wrong("'" + word + "' as a size", "name=number, once");
  }
  return sizes;
}

/// Returns the text of a column with values in place of the names in braces: those of sizes, and the title.
std::string filled_in(const FactTable::Row& row, std::string_view column, const Sizes& sizes) {
  std::string text = row.text(column);
  const auto fill = [&](const std::string& name, const std::string& value) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  };
  for (const auto& [name, value] : sizes) fill("{" + name + "}", std::to_string(value));
  fill("{title}", row.text("title"));
  if (text.find('{') != std::string::npos)
    row.wrong("'" + text + "' has an unknown name in braces", "use {title} or a size of the row");
  return text;
}

using MakeShape = ModelShape (*)(const std::string& title, const Sizes& sizes);

Workload read_workload(const FactTable::Row& row) {
  const auto make = row.one_of<MakeShape>("architecture", {{"resnet", resnet_shape},
                                                           {"vgg", vgg_shape},
                                                           {"vit", vit_shape},
                                                           {"bert", bert_shape},
                                                           {"gpt", gpt_shape},
                                                           {"decoder", decoder_shape},
                                                           {"encoder-decoder", encoder_decoder_shape},
                                                           {"hybrid", hybrid_shape},
                                                           {"lstm", lstm_shape},
                                                           {"clip", clip_shape},
                                                           {"wav2vec2", wav2vec2_shape},
                                                           {"conformer", conformer_shape},
                                                           {"unet", unet_shape},
                                                           {"flux", flux_shape},
                                                           {"dlrm", dlrm_shape},
                                                           {"efficientnet", efficientnet_shape}});
  const Sizes own = sizes_in(row);
  const std::vector<std::string> asked = words_of(row.optional_text("asked"));
  Workload workload;
  for (const std::string& name : asked) {
    const auto size = std::ranges::find(workload_sizes(), name, &ParameterSpec::name);
    if (size == workload_sizes().end() || !own.contains(name))
      row.wrong("'" + name + "' as asked", "use one of the workload's sizes");
    workload.parameters.push_back(*size);
    workload.parameters.back().default_value = size_text(*size, own.at(name));
  }
  workload.name = row.text("name");
  workload.description = filled_in(row, "description", own);
  workload.source = row.text("source");
  workload.sample = filled_in(row, "sample", own);
  if (!row.optional_text("samples").empty()) workload.dataset_size = row.integer("samples");
  workload.make = [make, title = row.text("title"), own, asked](const Sizes& sizes) {
    Sizes all = own;
    for (const auto& [name, value] : sizes) all[name] = value;
    check_divides(asked, all);
    check_experts(all);
    return make(title, all);
  };
  return workload;
}

}  // namespace

const std::vector<ParameterSpec>& workload_sizes() {
  const auto number = [](const char* name, double maximum, const char* description) {
    return integer_parameter(name, 1, maximum, "", description);
  };
  const auto or_none = [](const char* name, double maximum, const char* description) {
    return integer_parameter(name, 0, maximum, "", description);
  };
  static const std::vector<ParameterSpec> kSizes{
      number("layers", 10'000, "blocks, each of attention and an MLP"),
      number("hidden", 1'000'000, "width of a token"),
      number("heads", 10'000, "heads of attention; a divisor of hidden unless head-size is given"),
      number("kv-heads", 10'000, "heads of keys and values, a divisor of heads"),
      or_none("head-size", 100'000, "width of a head; 0: hidden ÷ heads"),
      number("feed-forward", 10'000'000, "width of the MLP between its layers"),
      number("vocabulary", 100'000'000, "entries of the table of words"),
      // Samples consist of real tokens only, because shorter texts are packed without padding.
      number("sequence", 10'000'000, "tokens of a sample, none of them padding"),
      or_none("mean-length", 10'000'000,
              "mean tokens of a sample without padding, if samples differ; 0: each has `sequence` tokens"),
      number("masked", 10'000'000, "tokens of a sample that are masked and predicted"),
      number("image", 10'000, "pixels along a side of an image"),
      number("patch", 1'000, "pixels along a side of a patch, a divisor of image"),
      number("classes", 10'000'000, "classes of the classifier"),
      choice_parameter("tied", {"false", "true"}, "whether the decoder's matrix is the embedding table"),
      choice_parameter("mlp", {"gated", "plain"}, "gated: three matrices with a gate; plain: two matrices"),
      choice_parameter("biases", {"none", "qkv", "all"},
                       "matrices with biases: none; queries, keys and values; or all"),
      choice_parameter("norm", {"rms", "layer", "unweighted"}, "RMS norms, layer norms, or norms without weights"),
      number("norms", 4, "norms per block: 1, 2, or 4 (one before and one after each half)"),
      choice_parameter("qk-norm", {"none", "head", "full"}, "norms of queries and keys: of each head, or of all"),
      or_none("positions", 10'000'000, "rows of a table of positions; 0: none, as with rotary positions"),
      or_none("window", 10'000'000,
              "attention window in positions, the own position included; 0: all earlier positions"),
      or_none("full-every", 10'000, "every how many blocks one has full attention; 0: no block"),
      or_none("experts", 100'000, "experts (MLPs) per block, from which a router chooses; 0: one MLP for all tokens"),
      number("experts-per-token", 1'000, "experts per token"),
      or_none("expert-feed-forward", 10'000'000, "width of an expert between its layers"),
      or_none("shared-feed-forward", 10'000'000, "width of the shared expert for all tokens; 0: none"),
      or_none("dense-layers", 10'000, "number of first blocks that have an MLP instead of experts"),
      number("experts-every", 10'000, "distance in blocks from one block with experts to the next"),
  };
  return kSizes;
}

ModelShape Workload::shape(const ParameterValues& sizes) const {
  Sizes all;
  for (const ParameterSpec& size : parameters) {
    const auto said = sizes.find(size.name);
    all[size.name] = size_in(size, said == sizes.end() ? size.default_value : said->second);
  }
  for (const auto& [size, value] : sizes) {
    if (!all.contains(size)) throw std::invalid_argument("'" + name + "' has no size '" + size + "'");
  }
  return make(all);
}

Registry<Workload>& workload_registry() {
  static Registry<Workload> registry = [] {
    const FactTable table(tables::kWorkloads, {"name", "title", "architecture", "description", "sample", "samples",
                                               "sizes", "asked", "date", "source"});
    std::vector<Workload> all;
    for (const FactTable::Row& row : table.rows()) all.push_back(read_workload(row));
    return Registry<Workload>("workload", std::move(all));
  }();
  return registry;
}

}  // namespace dadsim::spec
