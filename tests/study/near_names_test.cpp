#include "spec/near_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/names.hpp"
#include "spec/near_names.csv.hpp"
#include "spec/precision.hpp"
#include "spec/workload.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

using spec::NameKind;
using spec::NameMeant;

std::vector<std::string> names_of(NameKind kind) {
  if (kind == NameKind::device) return sim::device_catalog().names();
  if (kind == NameKind::workload) return spec::workload_registry().names();
  if (kind == NameKind::precision) return spec::all_names<spec::Precision>();
  std::vector<std::string> names;
  for (const spec::LinkSpec& link : sim::link_catalog()) names.push_back(link.name);
  return names;
}

NameMeant meant(NameKind kind, const std::string& typed, const std::string& usual = {}) {
  return spec::name_meant(kind, typed, names_of(kind), usual);
}

using Meant = std::vector<std::pair<const char*, const char*>>;

void are_taken(NameKind kind, const Meant& names) {
  for (const auto& [typed, name] : names) {
    const NameMeant found = meant(kind, typed);
    EXPECT_EQ(found.name, name) << typed;
    EXPECT_FALSE(found.why.empty()) << typed;
  }
}

/// Returns true for a workload whose size is set by the scenario and not by its name.
bool is_of_any_size(NameKind kind, const std::string& name) {
  if (kind != NameKind::workload) return false;
  const std::vector<spec::ParameterSpec>& sizes = spec::workload_registry().at(name).parameters;
  return std::ranges::find(sizes, std::string("layers"), &spec::ParameterSpec::name) != sizes.end();
}

TEST(NearNames, ANameOfTheCatalogueIsItself) {
  for (const NameKind kind : {NameKind::device, NameKind::link, NameKind::workload, NameKind::precision}) {
    for (const std::string& name : names_of(kind)) {
      if (is_of_any_size(kind, name)) continue;
      EXPECT_EQ(meant(kind, name).name, name);
      EXPECT_TRUE(meant(kind, name).why.empty()) << name;
    }
  }
}

TEST(NearNames, DevicesAreTakenAsPeopleWriteThem) {
  are_taken(NameKind::device, {{"RTX3090", "rtx-3090"},
                               {"3090", "rtx-3090"},
                               {"A100-80GB", "a100-sxm4-80"},
                               {"NVIDIA A100 40 GB", "a100-sxm4-40"},
                               {"A100-PCIe-80GB", "a100-pcie-80"},
                               {"h100", "h100-sxm5"},
                               {"H100 SXM", "h100-sxm5"},
                               {"NVIDIA H100 80GB HBM3", "h100-sxm5"},
                               {"NVIDIA H100-SXM5-80GB", "h100-sxm5"},
                               {"NVIDIA H200-SXM5-141GB", "h200-sxm"},
                               {"NVIDIA H200-NVL-141GB", "h200-nvl"},
                               {"NVIDIA Blackwell GPU (B200-SXM-180GB)", "b200-sxm"},
                               {"AMD Instinct MI300X 192GB HBM3", "mi300x"},
                               {"AMD Instinct MI325X 256GB HBM3e", "mi325x"},
                               {"DGX-H100", "h100-sxm5"},
                               {"DGX-GB300", "gb300"},
                               {"DGX Spark", "gb10"},
                               {"TPU v6e (Trillium)", "tpu-v6e"},
                               {"v5e", "tpu-v5e"},
                               {"GB200", "gb200"}});
}

TEST(NearNames, LinksAreTakenByTheirRates) {
  are_taken(NameKind::link, {{"400G", "ib-ndr"},
                             {"400 Gb/s", "ib-ndr"},
                             {"InfiniBand NDR", "ib-ndr"},
                             {"IB 200G", "ib-hdr"},
                             {"RoCE 100G", "roce-100"},
                             {"10GbE", "ethernet-10g"},
                             {"NVLink4", "nvlink-4"}});
}

TEST(NearNames, WorkloadsAreTakenWithTheirSizes) {
  are_taken(NameKind::workload, {{"qwen2-1.5b", "qwen2.5-1.5b"},
                                 {"Llama-3-8B", "llama-3-8b"},
                                 {"llama 70b", "llama-3.1-70b"},
                                 {"LLAMA3_70B", "llama-3.1-70b"},
                                 {"llama31_8b", "llama-3.1-8b"},
                                 {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
                                 {"resnet50", "resnet-50"},
                                 {"DeepSeek V3", "deepseek-v3"}});
}

TEST(NearNames, WhatMayMeanSeveralIsNotTaken) {
  const std::vector<std::string> rates{"ethernet-100g", "roce-100", "ib-edr"};
  EXPECT_EQ(meant(NameKind::link, "100Gbit").name, "");
  EXPECT_EQ(meant(NameKind::link, "100Gbit").nearest, rates);
  EXPECT_EQ(meant(NameKind::link, "infiniband").name, "") << "of no known rate";
  EXPECT_EQ(meant(NameKind::link, "infiniband", "ib-hdr").name, "ib-hdr") << "as the device usually has it";
  EXPECT_EQ(meant(NameKind::link, "100Gbit", "ib-ndr").name, "") << "ib-ndr is no 100 Gbit/s";
  EXPECT_EQ(meant(NameKind::device, "l40").name, "") << "another device than l40s";
  EXPECT_EQ(meant(NameKind::link, "10").name, "") << "a rate whose unit is missing";
  for (const char* typed : {"7b", "claude", "deepseek"}) {
    EXPECT_EQ(meant(NameKind::workload, typed).name, "") << typed;
    EXPECT_LE(meant(NameKind::workload, typed).nearest.size(), 3U) << typed;
  }
}

TEST(NearNames, AnotherFamilyOfModelsIsAskedFor) {
  const NameMeant found = meant(NameKind::workload, "Nemotron 8B");
  EXPECT_EQ(found.name, "") << "nemotron-h-8b has other layers";
  EXPECT_EQ(found.nearest, std::vector<std::string>{"nemotron-h-8b"});
}

// Tests the first word of every name, such as `bert`, `llama` and `t5`.
TEST(NearNames, AFamilyAloneSaysTheSizeThatIsTakenOrAsks) {
  const std::vector<std::string> names = names_of(NameKind::workload);
  std::size_t of_any_size = 0, taken = 0, asked = 0;
  for (const std::string& name : names) {
    of_any_size += is_of_any_size(NameKind::workload, name) ? 1 : 0;
    const std::string family = name.substr(0, name.find('-'));
    const auto members = std::ranges::count_if(
        names, [&](const std::string& one) { return one == family || one.starts_with(family + '-'); });
    const NameMeant found = meant(NameKind::workload, family);
    SCOPED_TRACE(family);
    if (found.name.empty()) {
      ++asked;
      EXPECT_GE(found.nearest.size(), 2U);
      EXPECT_LE(found.nearest.size(), 3U);
    } else if (members > 1) {
      ++taken;
      EXPECT_FALSE(is_of_any_size(NameKind::workload, found.name));
      EXPECT_NE(found.why.find(" other"), std::string::npos) << found.why;
    }
  }
  EXPECT_GE(of_any_size, 6U);
  EXPECT_GE(taken, 4U);
  EXPECT_GE(asked, 20U);
}

TEST(NearNames, TheSizeNamedBaseIsOneOfSeveral) {
  are_taken(NameKind::workload, {{"bert", "bert-base"},
                                 {"BERT", "bert-base"},
                                 {"T5 base", "t5-base"},
                                 {"google-bert/bert-base-uncased", "bert-base"},
                                 {"Llama-3-8B-base", "llama-3-8b"},
                                 {"meta-llama/Llama-3.1-8B-base", "llama-3.1-8b"}});
  for (const char* family : {"t5", "whisper", "wav2vec2", "deberta"})
    EXPECT_EQ(meant(NameKind::workload, family).name, "") << family;
}

TEST(NearNames, OtherSizesAreSuggestedForASizeThatIsMissing) {
  const NameMeant found = meant(NameKind::workload, "GPT-3 5B");
  EXPECT_EQ(found.name, "");
  EXPECT_EQ(found.nearest.size(), 3U);
  for (const std::string& name : found.nearest) EXPECT_TRUE(name.starts_with("gpt-3-")) << name;
}

TEST(NearNames, RemediesNameThreeAtMost) {
  const std::vector<std::string> devices = names_of(NameKind::device);
  EXPECT_EQ(spec::remedy_for_name(NameKind::device, "RTX3090", devices), "did you mean 'rtx-3090'?");
  EXPECT_EQ(spec::remedy_for_name(NameKind::device, "rtx-3909", devices), "did you mean 'rtx-3090'?") << "misspelt";
  EXPECT_EQ(spec::remedy_for_name(NameKind::link, "100Gbit", names_of(NameKind::link)),
            "did you mean 'ethernet-100g', 'roce-100' or 'ib-edr'?");
}

TEST(NearNames, TheTableNamesWhatTheCataloguesHave) {
  const FactTable table(tables::kNearNames, {"kind", "word", "name", "why", "date", "source"}, 2);
  for (const FactTable::Row& row : table.rows()) {
    const auto kind = row.one_of<NameKind>("kind", {{"device", NameKind::device},
                                                    {"link", NameKind::link},
                                                    {"workload", NameKind::workload},
                                                    {"precision", NameKind::precision}});
    const std::vector<std::string> names = names_of(kind);
    for (const std::string_view name : split_at(row.text("name"), ' '))
      EXPECT_NE(std::ranges::find(names, name), names.end()) << row.text("word") << " → " << name;
    const bool is_rate = std::ranges::all_of(row.text("word"), [](char c) { return c >= '0' && c <= '9'; });
    const NameMeant found = meant(kind, row.text("word") + (is_rate ? "g" : ""));
    EXPECT_EQ(found.name.empty(), row.optional_text("why").empty()) << row.text("word") << " is never asked for";
  }
}

}  // namespace
}  // namespace dadsim::study
