#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spec/adapters.hpp"
#include "spec/attention.hpp"
#include "spec/device_part.hpp"
#include "spec/workload.hpp"

namespace dadsim::spec {
namespace {

ModelShape released_shape(const std::string& name, const ParameterValues& sizes = {}) {
  return workload_registry().at(name).shape(sizes);
}

const LayerShape& released_layer(const ModelShape& model, const std::string& name) {
  const auto found = std::ranges::find(model.layers, name, &LayerShape::name);
  if (found == model.layers.end()) throw std::runtime_error("no layer " + name);
  return *found;
}

/// Published numbers of parameters: in total, and active per token, both including embedding and output tables.
struct Published {
  const char* name;
  std::int64_t parameters, active;
};
std::ostream& operator<<(std::ostream& out, const Published& one) { return out << one.name; }

class PublishedModel : public testing::TestWithParam<Published> {};

TEST_P(PublishedModel, HasItsParametersToTheUnit) {
  const ModelShape model = released_shape(GetParam().name);
  EXPECT_EQ(model.parameters(), GetParam().parameters);
  std::int64_t idle = 0;
  for (const LayerShape& layer : model.layers) {
    if (layer.experts == 1) continue;
    const LayerShape& router = released_layer(model, layer.name.substr(0, layer.name.find('.')) + ".router");
    ASSERT_EQ(router.out, layer.experts);
    const std::int64_t at_work = layer.rows_per_sample / router.rows_per_sample;
    EXPECT_EQ(layer.parameters % layer.experts, 0);
    idle += layer.parameters / layer.experts * (layer.experts - at_work);
  }
  EXPECT_EQ(model.parameters() - idle, GetParam().active);
}

INSTANTIATE_TEST_SUITE_P(
    OfTheTable, PublishedModel,
    testing::Values(
        Published{"llama-3-8b", 8'030'261'248, 8'030'261'248}, Published{"llama-3.1-8b", 8'030'261'248, 8'030'261'248},
        Published{"llama-3.1-70b", 70'553'706'496, 70'553'706'496},
        Published{"llama-3.1-405b", 405'853'388'800, 405'853'388'800},
        Published{"llama-3.2-1b", 1'235'814'400, 1'235'814'400},
        Published{"llama-3.3-70b", 70'553'706'496, 70'553'706'496},
        Published{"llama-4-scout", 107'769'861'120, 17'172'894'720},
        Published{"llama-4-maverick", 400'711'848'960, 17'184'691'200},
        Published{"qwen2-0.5b", 494'032'768, 494'032'768}, Published{"qwen2.5-0.5b", 494'032'768, 494'032'768},
        Published{"qwen2.5-7b", 7'615'616'512, 7'615'616'512}, Published{"qwen2-7b", 7'615'616'512, 7'615'616'512},
        Published{"qwen2-57b-a14b", 57'408'658'944, 14'249'270'784},
        Published{"qwen2.5-1.5b", 1'543'714'304, 1'543'714'304}, Published{"qwen2.5-3b", 3'085'938'688, 3'085'938'688},
        Published{"qwen2.5-14b", 14'770'033'664, 14'770'033'664},
        Published{"qwen2.5-32b", 32'763'876'352, 32'763'876'352},
        Published{"qwen2.5-72b", 72'706'203'648, 72'706'203'648}, Published{"qwen3-0.6b", 596'049'920, 596'049'920},
        Published{"qwen3-1.7b", 1'720'574'976, 1'720'574'976}, Published{"qwen3-8b", 8'190'735'360, 8'190'735'360},
        Published{"qwen3-14b", 14'768'307'200, 14'768'307'200}, Published{"qwen3-32b", 32'762'123'264, 32'762'123'264},
        Published{"qwen3-30b-a3b", 30'532'122'624, 3'353'032'704},
        Published{"qwen3-235b-a22b", 235'093'634'560, 22'190'763'520},
        Published{"mistral-7b-v0.1", 7'241'732'096, 7'241'732'096},
        Published{"mistral-7b-v0.3", 7'248'023'552, 7'248'023'552},
        Published{"mixtral-8x7b", 46'702'792'704, 12'879'925'248},
        Published{"deepseek-v2-lite", 15'706'484'224, 2'661'150'208},
        Published{"deepseek-v2", 235'741'434'880, 21'375'800'320},
        Published{"deepseek-v3", 671'026'419'200, 37'552'297'472},
        Published{"kimi-k2", 1'026'408'232'448, 32'861'500'928}, Published{"glm-4.5", 352'797'829'024, 33'632'266'144},
        Published{"gpt-oss-120b", 116'829'156'672, 5'711'982'912}, Published{"gemma-2b", 2'506'172'416, 2'506'172'416},
        Published{"gemma-7b", 8'537'680'896, 8'537'680'896}, Published{"gemma-2-2b", 2'614'341'888, 2'614'341'888},
        Published{"gemma-2-27b", 27'227'128'320, 27'227'128'320}, Published{"gemma-3-1b", 999'885'952, 999'885'952},
        Published{"gemma-3-4b", 3'880'263'168, 3'880'263'168}, Published{"gemma-3-12b", 11'766'034'176, 11'766'034'176},
        Published{"gemma-3-27b", 27'009'346'304, 27'009'346'304}, Published{"phi-3-mini", 3'821'079'552, 3'821'079'552},
        Published{"phi-3-medium", 13'960'238'080, 13'960'238'080}, Published{"phi-4", 14'659'507'200, 14'659'507'200},
        Published{"phi-4-mini", 3'836'021'760, 3'836'021'760}, Published{"olmo-1b", 1'176'764'416, 1'176'764'416},
        Published{"olmo-7b", 6'888'095'744, 6'888'095'744}, Published{"olmo-2-7b", 7'298'617'344, 7'298'617'344},
        Published{"olmo-2-32b", 32'234'279'936, 32'234'279'936},
        Published{"nemotron-4-15b", 15'628'775'424, 15'628'775'424},
        Published{"nemotron-4-340b", 341'029'195'776, 341'029'195'776},
        Published{"falcon-7b", 6'921'720'704, 6'921'720'704}, Published{"falcon-40b", 41'303'293'952, 41'303'293'952},
        Published{"falcon-180b", 178'557'088'768, 178'557'088'768},
        Published{"mpt-7b-released", 6'649'286'656, 6'649'286'656},
        Published{"mpt-30b-released", 29'957'200'896, 29'957'200'896},
        Published{"gpt-neox-20b", 20'554'567'680, 20'554'567'680}, Published{"opt-125m", 125'239'296, 125'239'296},
        Published{"opt-6.7b", 6'658'473'984, 6'658'473'984}, Published{"bloom-7b1", 7'069'016'064, 7'069'016'064},
        Published{"bloom-176b", 176'247'271'424, 176'247'271'424},
        Published{"tinyllama-1.1b", 1'100'048'384, 1'100'048'384}, Published{"smollm2-135m", 134'515'008, 134'515'008},
        Published{"smollm2-1.7b", 1'711'376'384, 1'711'376'384}, Published{"smollm3-3b", 3'075'098'624, 3'075'098'624},
        Published{"minicpm-2b", 2'724'880'896, 2'724'880'896}, Published{"starcoder2-3b", 3'030'371'328, 3'030'371'328},
        Published{"starcoder2-7b", 7'173'923'840, 7'173'923'840},
        Published{"starcoder2-15b", 15'957'889'024, 15'957'889'024},
        Published{"minimax-m2.5", 228'689'764'864, 11'030'553'088}, Published{"t5-base", 222'903'552, 222'903'552},
        Published{"t5-11b", 11'307'321'344, 11'307'321'344}, Published{"flan-t5-xxl", 11'135'332'352, 11'135'332'352},
        Published{"whisper-tiny", 37'184'640, 37'184'640}, Published{"whisper-base", 71'825'920, 71'825'920},
        Published{"whisper-small", 240'582'912, 240'582'912},
        Published{"whisper-large-v2", 1'541'384'960, 1'541'384'960},
        Published{"whisper-large-v3", 1'541'570'560, 1'541'570'560},
        Published{"whisper-large-v3-turbo", 806'958'080, 806'958'080},
        Published{"nemotron-h-8b", 8'100'852'736, 8'100'852'736},
        Published{"nemotron-h-56b", 56'324'350'464, 56'324'350'464},
        Published{"roberta-large", 355'359'744, 355'359'744}, Published{"deberta-v3-base", 183'831'552, 183'831'552},
        Published{"deberta-v3-large", 434'012'160, 434'012'160}, Published{"vit-h-14", 632'045'800, 632'045'800},
        Published{"dinov2-b-14", 86'580'480, 86'580'480}, Published{"dinov2-g-14", 1'136'480'768, 1'136'480'768},
        Published{"bert-base-encoder", 109'482'240, 109'482'240},
        Published{"bert-large-encoder", 335'141'888, 335'141'888}, Published{"clip-vit-b-32", 151'277'313, 151'277'313},
        Published{"clip-vit-b-16", 149'620'737, 149'620'737}, Published{"clip-vit-l-14", 427'616'513, 427'616'513},
        Published{"clip-vit-l-14-336", 427'944'193, 427'944'193}, Published{"clip-vit-h-14", 986'109'441, 986'109'441},
        Published{"wav2vec2-base", 94'371'712, 94'371'712}, Published{"wav2vec2-large-lv60", 315'438'720, 315'438'720},
        Published{"hubert-base", 94'371'712, 94'371'712}, Published{"conformer-ctc-l", 121'501'313, 121'501'313},
        Published{"stable-diffusion-1.5", 859'520'964, 859'520'964},
        Published{"stable-diffusion-2.1", 865'910'724, 865'910'724}, Published{"sdxl", 2'567'463'684, 2'567'463'684},
        Published{"flux.1-dev", 11'901'408'320, 11'901'408'320},
        Published{"flux.1-schnell", 11'891'178'560, 11'891'178'560},
        Published{"dlrm-dcnv2", 26'151'671'809, 26'151'671'809}, Published{"efficientnet-b0", 5'288'548, 5'288'548},
        Published{"efficientnet-b1", 7'794'184, 7'794'184}, Published{"efficientnet-b2", 9'109'994, 9'109'994},
        Published{"efficientnet-b3", 12'233'232, 12'233'232}, Published{"efficientnet-b4", 19'341'616, 19'341'616},
        Published{"efficientnet-b5", 30'389'784, 30'389'784}, Published{"efficientnet-b6", 43'040'704, 43'040'704},
        Published{"efficientnet-b7", 66'347'960, 66'347'960},
        Published{"nemotron-3-nano", 31'577'940'288, 3'580'076'352}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST(Decoder, SaysWhatALlamaSays) {
  const ParameterValues sizes{{"layers", "3"},          {"hidden", "512"},      {"heads", "8"},     {"kv-heads", "2"},
                              {"feed-forward", "1408"}, {"vocabulary", "1000"}, {"sequence", "256"}};
  EXPECT_EQ(released_shape("decoder", sizes).layers, released_shape("llama", sizes).layers);
}

TEST(Decoder, OfASmallModelByItsNumbersHasWhatItsTableSays) {
  const ParameterValues sizes{{"layers", "24"},     {"hidden", "896"},        {"heads", "14"},
                              {"kv-heads", "2"},    {"feed-forward", "4864"}, {"vocabulary", "151936"},
                              {"sequence", "4096"}, {"tied", "true"}};
  ParameterValues with_biases = sizes;
  with_biases["biases"] = "qkv";
  EXPECT_EQ(released_shape("decoder", with_biases).parameters(), 494'032'768) << "Qwen2.5-0.5B";
  EXPECT_EQ(released_shape("llama", sizes).parameters(), 494'032'768 - 24 * (896 + 2 * 128)) << "without those biases";
}

TEST(Decoder, MultipliesAsItsConfigurationSays) {
  // Multiply-adds with weights are half of the flops per token, times the tokens.
  const ModelShape llama = with_flash_attention(released_shape("llama-3.1-8b"));
  double weights = 0;
  double scores = 0;
  for (const LayerShape& layer : llama.layers)
    (layer.kind == LayerKind::attention ? scores : weights) += layer.forward_macs_per_sample;
  EXPECT_EQ(2 * weights, 15'009'316'864.0 * 8192);
  EXPECT_NEAR(2 * scores, 2'147'745'792.0 * 8192, 2e-4 * 2 * scores) << "a block on the diagonal counts for half";
  const ModelShape deepseek = with_flash_attention(released_shape("deepseek-v3"));
  weights = scores = 0;
  for (const LayerShape& layer : deepseek.layers)
    (layer.kind == LayerKind::attention ? scores : weights) += layer.forward_macs_per_sample;
  EXPECT_EQ(2 * weights, 73'249'193'984.0 * 4096);
  EXPECT_NEAR(2 * scores, 10'236'600'320.0 * 4096, 3e-4 * 2 * scores);
}

TEST(Decoder, SeesThroughAWindow) {
  const ModelShape plain = released_shape("gemma-2-27b", {{"sequence", "8192"}});
  const ModelShape flash = with_flash_attention(plain);
  const double all = released_layer(plain, "block1.attention").forward_macs_per_sample;
  EXPECT_EQ(released_layer(flash, "block2.attention").forward_macs_per_sample, all / 2);
  EXPECT_NEAR(released_layer(flash, "block1.attention").forward_macs_per_sample,
              all * (4096 - 4096.0 * 4095 / (2 * 8192)) / 8192, 1);
  double scores = 0;
  for (const LayerShape& layer : flash.layers)
    if (layer.kind == LayerKind::attention) scores += layer.forward_macs_per_sample;
  EXPECT_NEAR(2 * scores, 2'701'414'400.0 * 8192, 2e-4 * 2 * scores);
  EXPECT_EQ(
      released_layer(with_flash_attention(released_shape("gemma-2-27b", {{"sequence", "2048"}})), "block1.attention")
          .forward_macs_per_sample,
      released_layer(released_shape("gemma-2-27b", {{"sequence", "2048"}}), "block1.attention")
              .forward_macs_per_sample /
          2)
      << "a window that is longer than the sequence";
}

TEST(Decoder, RefusesSizesThatMakeNoNetwork) {
  const auto fault = [](const ParameterValues& sizes) -> std::string {
    try {
      released_shape("decoder", sizes);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault({{"hidden", "1000"}, {"heads", "48"}}), "heads 48 does not divide hidden 1000");
  EXPECT_EQ(fault({{"hidden", "1000"}, {"heads", "48"}, {"head-size", "64"}}), "");
  EXPECT_EQ(fault({{"experts", "8"}}), "experts need expert-feed-forward, the width of an expert");
  EXPECT_EQ(fault({{"experts", "8"}, {"experts-per-token", "9"}, {"expert-feed-forward", "64"}}),
            "experts-per-token 9 is above experts 8");
}

TEST(Experts, AreDividedByTheirWidth) {
  const LayerShape whole = released_layer(released_shape("mixtral-8x7b"), "block1.experts.up");
  EXPECT_EQ(whole.parameters, 8 * std::int64_t{4096} * 14336);
  EXPECT_EQ(whole.rows_per_sample, 2 * 4096);
  EXPECT_FALSE(whole.is_tied());
  const LayerShape part = sharded(whole, 4);
  EXPECT_EQ(part.parameters, whole.parameters / 4);
  EXPECT_EQ(part.forward_macs_per_sample, whole.forward_macs_per_sample / 4);
  const ModelShape biased = released_shape("gpt-oss-120b");
  const LayerShape down = released_layer(biased, "block1.experts.down");
  EXPECT_EQ(sharded(down, 8).parameters, 128 * (std::int64_t{2880} * 2880 / 8 + 2880)) << "biases are whole";
}

TEST(Adapters, LearnTheirOwnRowsAndColumns) {
  const ModelShape whole = released_shape("llama-2-70b");
  const ModelShape adapted = with_adapters(whole, 16, Adapted::attention);
  EXPECT_EQ(adapted.parameters(), 65'536'000) << "of queries, keys, values and projection";
  std::int64_t frozen = 0;
  for (const LayerShape& layer : adapted.layers) frozen += layer.frozen;
  EXPECT_EQ(frozen, whole.parameters());
  const LayerShape& query = released_layer(adapted, "block1.query");
  EXPECT_FALSE(query.has_outer_product());
  EXPECT_FALSE(query.is_tied());
  const double base = released_layer(whole, "block1.query").forward_macs_per_sample;
  const double adapter = 4096.0 * 16 * (8192 + 8192);
  EXPECT_EQ(query.forward_macs_per_sample, base + adapter);
  EXPECT_EQ(query.frozen_macs_per_sample, base);
  EXPECT_GT(with_adapters(whole, 16, Adapted::all).parameters(), adapted.parameters());
  EXPECT_THROW(with_adapters(released_shape("resnet-18"), 8, Adapted::all), std::invalid_argument);
}

// Each expert has its own matrices, so each has its own adapters.
TEST(Adapters, AreThereForEachExpert) {
  const LayerShape down =
      released_layer(with_adapters(released_shape("gpt-oss-120b"), 16, Adapted::all), "block1.experts.down");
  EXPECT_EQ(down.parameters, 128 * 16 * (2880 + 2880));
  EXPECT_EQ(down.frozen, 128 * (std::int64_t{2880} * 2880 + 2880));
}

TEST(Adapters, AreDividedWithTheirMatrix) {
  const LayerShape query =
      released_layer(with_adapters(released_shape("llama-2-70b"), 16, Adapted::all), "block1.query");
  const LayerShape part = sharded(query, 8);
  EXPECT_EQ(part.frozen, query.frozen / 8);
  EXPECT_EQ(part.parameters, 16 * (8192 + 8192 / 8)) << "what reads the whole input is whole";
  const LayerShape words =
      sharded(released_layer(with_adapters(released_shape("llama-2-70b"), 16, Adapted::all), "words"), 8);
  EXPECT_EQ(words.parameters, 0);
  EXPECT_EQ(words.frozen, std::int64_t{8192} * 4096) << "32,000 words filled up to 32,768";
}

}  // namespace
}  // namespace dadsim::spec
