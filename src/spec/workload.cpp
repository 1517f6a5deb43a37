#include "spec/workload.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/workloads.csv.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::spec {
namespace {

std::int64_t size_in(const std::string& text, const std::string& name) {
  const auto value = parse_whole<std::int64_t>(text, 1);
  if (!value) throw std::invalid_argument("'" + name + "' is no size: '" + text + "'");
  return *value;
}

/// A size that can be asked for: the same range and words in all architectures.
struct AskedSize {
  const char* name;
  double maximum;
  const char* description;
};
constexpr std::array<AskedSize, 11> kAskedSizes{{
    {"layers", 10'000, "blocks, each of attention and two layers of an MLP"},
    {"hidden", 1'000'000, "width of a token"},
    {"heads", 10'000, "heads of attention, a divisor of hidden"},
    {"kv-heads", 10'000, "heads of keys and values, a divisor of heads"},
    {"feed-forward", 10'000'000, "width of the MLP between its layers"},
    {"vocabulary", 100'000'000, "entries of the table of words"},
    // Samples are sequences of so many tokens, all of them real: shorter texts are packed, and nothing is padded.
    {"sequence", 10'000'000, "tokens of a sample, none of them padding"},
    {"masked", 10'000'000, "tokens of a sample that are masked and predicted"},
    {"image", 10'000, "pixels along a side of an image"},
    {"patch", 1'000, "pixels along a side of a patch, a divisor of image"},
    {"classes", 10'000'000, "classes that are told apart"},
}};

/// Throws where an asked size and another of which it is a divisor, or a multiple, do not go together.
void check_divides(const std::vector<std::string>& asked, const Sizes& sizes) {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [parts, whole] : {Pair{"heads", "hidden"}, Pair{"kv-heads", "heads"}, Pair{"patch", "image"}}) {
    if (!sizes.contains(parts) || !sizes.contains(whole)) continue;
    if (std::ranges::find(asked, parts) == asked.end() && std::ranges::find(asked, whole) == asked.end()) continue;
    if (sizes.at(whole) % sizes.at(parts) != 0)
      throw std::invalid_argument(std::string(parts) + " " + std::to_string(sizes.at(parts)) + " does not divide " +
                                  whole + " " + std::to_string(sizes.at(whole)));
  }
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

/// With the sizes in place of their names in braces.
std::string filled_in(const FactTable::Row& row, std::string_view column, const Sizes& sizes) {
  std::string text = row.text(column);
  const auto fill = [&](const std::string& name, const std::string& value) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  };
  for (const auto& [name, value] : sizes) fill("{" + name + "}", std::to_string(value));
  fill("{title}", row.text("title"));
  if (text.find('{') != std::string::npos) row.wrong("'" + text + "'", "title and sizes of the row in braces");
  return text;
}

using MakeShape = ModelShape (*)(const std::string& title, const Sizes& sizes);

Workload read_workload(const FactTable::Row& row) {
  const auto make = row.one_of<MakeShape>("architecture", {{"resnet", resnet_shape},
                                                           {"vgg", vgg_shape},
                                                           {"vit", vit_shape},
                                                           {"bert", bert_shape},
                                                           {"gpt", gpt_shape},
                                                           {"llama", llama_shape},
                                                           {"lstm", lstm_shape}});
  const Sizes own = sizes_in(row);
  const std::vector<std::string> asked = words_of(row.optional_text("asked"));
  Workload workload;
  for (const std::string& name : asked) {
    const auto* size = std::ranges::find(kAskedSizes, name, &AskedSize::name);
    if (size == kAskedSizes.end() || !own.contains(name)) row.wrong("'" + name + "' as asked", "one of its sizes");
    workload.parameters.push_back(
        integer_parameter(name, 1, size->maximum, std::to_string(own.at(name)), size->description));
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
    return make(title, all);
  };
  return workload;
}

}  // namespace

ModelShape Workload::shape(const ParameterValues& sizes) const {
  Sizes all;
  for (const ParameterSpec& parameter : parameters)
    all[parameter.name] = size_in(parameter.default_value, parameter.name);
  for (const auto& [size, value] : sizes) {
    if (!all.contains(size)) throw std::invalid_argument("'" + name + "' has no size '" + size + "'");
    all[size] = size_in(value, size);
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
