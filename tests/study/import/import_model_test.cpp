#include "study/import/import_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

#include "scenario/document/load.hpp"
#include "scenario/elements/read_workload.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/timed_workload.hpp"
#include "spec/workload.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

/// A public config.json (without keys irrelevant to sizes), the released model's number of parameters, and the workload
/// with the same layers.
struct PublicModel {
  const char* name;
  std::string config;
  std::int64_t parameters;
  const char* workload;
};
std::ostream& operator<<(std::ostream& out, const PublicModel& one) { return out << one.name; }

std::string of_1000_classes() {
  std::string labels;
  for (int i = 0; i < 1000; ++i) labels += fmt::format(R"({}"{}": "class {}")", i == 0 ? "" : ", ", i, i);
  return fmt::format(R"({{"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 768,
    "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "patch_size": 16,
    "id2label": {{{}}}}})",
                     labels);
}

std::string of_gpt_oss() {
  std::string types;
  for (int i = 0; i < 36; ++i)
    types += fmt::format(R"({}"{}_attention")", i == 0 ? "" : ", ", i % 2 == 0 ? "sliding" : "full");
  return fmt::format(R"({{"model_type": "gpt_oss", "attention_bias": true, "head_dim": 64, "hidden_size": 2880,
    "intermediate_size": 2880, "layer_types": [{}], "num_attention_heads": 64, "num_experts_per_tok": 4,
    "num_hidden_layers": 36, "num_key_value_heads": 8, "num_local_experts": 128, "sliding_window": 128,
    "tie_word_embeddings": false, "vocab_size": 201088, "max_position_embeddings": 131072}})",
                     types);
}

class PublicConfig : public testing::TestWithParam<PublicModel> {};

TEST_P(PublicConfig, GivesTheReleasedParametersToTheUnitAndAScenarioThatReads) {
  ImportedModel model = import_model("config.json", GetParam().config, 0);
  EXPECT_EQ(model.shape.parameters(), GetParam().parameters);
  EXPECT_EQ(model.workload, GetParam().workload);
  if (model.workload.empty()) return;
  const scenario::ScenarioSource source("imported.xml", scenario_of(model, "", 2, "bf16"));
  const scenario::Scenario scenario = source.load({}, make_catalog());
  ASSERT_TRUE(scenario.timed_as);
  EXPECT_EQ(scenario.timed_as->batch, 2);
  EXPECT_FALSE(scenario.ignore_memory);
  EXPECT_EQ(scenario.timed_as->attention, spec::Attention::flash);
  spec::TimedAsSpec plain = *scenario.timed_as;
  plain.attention = spec::Attention::plain;
  EXPECT_EQ(spec::shape_of_workload(plain).layers, model.shape.layers);
}

INSTANTIATE_TEST_SUITE_P(
    Of, PublicConfig,
    testing::Values(
        PublicModel{"Llama-3.1-8B",
                    R"({"model_type": "llama", "attention_bias": false, "hidden_size": 4096, "intermediate_size": 14336,
                        "max_position_embeddings": 131072, "mlp_bias": false, "num_attention_heads": 32,
                        "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
                        "vocab_size": 128256})",
                    8'030'261'248, "llama-3-8b"},
        PublicModel{"SmolLM-360M",
                    R"({"model_type": "llama", "attention_bias": false, "hidden_size": 960, "intermediate_size": 2560,
                        "max_position_embeddings": 2048, "num_attention_heads": 15, "num_hidden_layers": 32,
                        "num_key_value_heads": 5, "tie_word_embeddings": true, "vocab_size": 49152})",
                    361'821'120, "llama"},
        PublicModel{"Qwen2.5-0.5B",
                    R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
                        "max_position_embeddings": 32768, "num_attention_heads": 14, "num_hidden_layers": 24,
                        "num_key_value_heads": 2, "sliding_window": 32768, "tie_word_embeddings": true,
                        "use_sliding_window": false, "vocab_size": 151936})",
                    494'032'768, "qwen2-0.5b"},
        PublicModel{"Qwen3-8B",
                    R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128, "hidden_size": 4096,
                        "intermediate_size": 12288, "num_attention_heads": 32, "num_hidden_layers": 36,
                        "num_key_value_heads": 8, "sliding_window": null, "tie_word_embeddings": false,
                        "use_sliding_window": false, "vocab_size": 151936})",
                    8'190'735'360, "qwen3-8b"},
        PublicModel{"Qwen3-30B-A3B",
                    R"({"model_type": "qwen3_moe", "attention_bias": false, "decoder_sparse_step": 1, "head_dim": 128,
                        "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [],
                        "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128,
                        "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
                        "tie_word_embeddings": false, "vocab_size": 151936})",
                    30'532'122'624, "qwen3-30b-a3b"},
        PublicModel{"Mistral-7B-v0.1",
                    R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
                        "max_position_embeddings": 32768, "num_attention_heads": 32, "num_hidden_layers": 32,
                        "num_key_value_heads": 8, "sliding_window": 4096, "tie_word_embeddings": false,
                        "vocab_size": 32000})",
                    7'241'732'096, "mistral-7b-v0.1"},
        PublicModel{"Mixtral-8x7B",
                    R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
                        "max_position_embeddings": 32768, "num_attention_heads": 32, "num_experts_per_tok": 2,
                        "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
                        "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})",
                    46'702'792'704, "mixtral-8x7b"},
        PublicModel{"GPT-2",
                    R"({"model_type": "gpt2", "activation_function": "gelu_new", "n_ctx": 1024, "n_embd": 768,
                        "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257})",
                    124'439'808, "decoder"},
        PublicModel{"BERT-base",
                    R"({"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072,
                        "max_position_embeddings": 512, "num_attention_heads": 12, "num_hidden_layers": 12,
                        "type_vocab_size": 2, "vocab_size": 30522})",
                    110'106'428, "bert-base"},
        PublicModel{"ViT-B/16", of_1000_classes(), 86'567'656, "vit-b-16"},
        PublicModel{"Gemma-2-2B",
                    R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 2304, "intermediate_size": 9216,
                        "max_position_embeddings": 8192, "num_attention_heads": 8, "num_hidden_layers": 26,
                        "num_key_value_heads": 4, "sliding_window": 4096, "vocab_size": 256000})",
                    2'614'341'888, "gemma-2-2b"},
        PublicModel{"Phi-3-mini",
                    R"({"model_type": "phi3", "attention_bias": false, "hidden_size": 3072, "intermediate_size": 8192,
                        "max_position_embeddings": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
                        "num_key_value_heads": 32, "sliding_window": 2047, "tie_word_embeddings": false,
                        "vocab_size": 32064})",
                    3'821'079'552, "phi-3-mini"},
        PublicModel{"Falcon-7B",
                    R"({"model_type": "falcon", "alibi": false, "bias": false, "hidden_size": 4544,
                        "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 71,
                        "num_hidden_layers": 32, "parallel_attn": true, "vocab_size": 65024})",
                    6'921'720'704, "falcon-7b"},
        PublicModel{"OPT-125M",
                    R"({"model_type": "opt", "ffn_dim": 3072, "hidden_size": 768, "max_position_embeddings": 2048,
                        "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50272,
                        "word_embed_proj_dim": 768})",
                    125'239'296, "opt-125m"},
        PublicModel{"DeepSeek-V3",
                    R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_size": 7168,
                        "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048,
                        "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
                        "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
                        "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
                        "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 129280,
                        "max_position_embeddings": 163840})",
                    671'026'419'200, "deepseek-v3"},
        PublicModel{"gpt-oss-120b", of_gpt_oss(), 116'829'156'672, "gpt-oss-120b"},
        PublicModel{"T5-base",
                    R"({"model_type": "t5", "d_ff": 3072, "d_kv": 64, "d_model": 768, "num_heads": 12, "num_layers": 12,
                        "relative_attention_num_buckets": 32, "vocab_size": 32128})",
                    222'903'552, "t5-base"},
        PublicModel{"Gemma-3-27B",  // published without the size of the vocabulary
                    R"({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": {
                        "model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504, "head_dim": 128,
                        "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
                        "sliding_window": 1024}, "vision_config": {"model_type": "siglip_vision_model"}})",
                    27'009'346'304, "gemma-3-27b"},
        PublicModel{"Gemma-3-4B",  // published without the size of the vocabulary and the heads
                    R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
                        "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})",
                    3'880'263'168, "gemma-3-4b"},
        PublicModel{"Llama-4-Scout",
                    R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120,
                        "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_attention_heads": 40,
                        "num_key_value_heads": 8, "num_hidden_layers": 48, "num_local_experts": 16,
                        "num_experts_per_tok": 1, "vocab_size": 202048}, "vision_config": {}})",
                    107'769'861'120, "llama-4-scout"},
        PublicModel{"MiniMax-M2.5",
                    R"({"model_type": "minimax_m2", "head_dim": 128, "hidden_size": 3072, "intermediate_size": 1536,
                        "num_attention_heads": 48, "num_experts_per_tok": 8, "num_hidden_layers": 62,
                        "num_key_value_heads": 8, "num_local_experts": 256, "use_qk_norm": true, "vocab_size": 200064,
                        "quantization_config": {"quant_method": "fp8"}})",
                    228'689'764'864, "minimax-m2.5"},
        PublicModel{"OLMo-3-7B",
                    R"({"model_type": "olmo3", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
                        "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 100278,
                        "max_position_embeddings": 65536, "sliding_window": 4096})",
                    7'298'011'136, "decoder"},
        PublicModel{"Granite-3.0-8B",
                    R"({"model_type": "granite", "hidden_size": 4096, "intermediate_size": 12800,
                        "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8,
                        "tie_word_embeddings": true, "vocab_size": 49155})",
                    8'170'848'256, "llama"},
        PublicModel{"Qwen2.5-VL-7B",
                    R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944,
                        "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
                        "tie_word_embeddings": false, "vocab_size": 152064, "vision_config": {"depth": 32}})",
                    7'615'616'512, "qwen2-7b"},
        PublicModel{"CLIP-ViT-B-32",
                    R"({"model_type": "clip", "projection_dim": 512, "text_config": {"model_type": "clip_text_model"},
                        "vision_config": {"model_type": "clip_vision_model", "patch_size": 32}})",
                    151'277'313, "clip-vit-b-32"},
        PublicModel{"DistilBERT", R"({"model_type": "distilbert", "dim": 768, "n_layers": 6, "vocab_size": 30522})",
                    66'362'880, ""},
        PublicModel{"XLM-RoBERTa-base",
                    R"({"model_type": "xlm-roberta", "hidden_size": 768, "num_hidden_layers": 12,
                        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 514,
                        "type_vocab_size": 1, "vocab_size": 250002})",
                    278'043'648, ""},
        PublicModel{"params.json of Llama 3 8B",
                    R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256,
                        "multiple_of": 1024, "ffn_dim_multiplier": 1.3, "norm_eps": 1e-05, "rope_theta": 500000.0})",
                    8'030'261'248, "llama-3-8b"},
        PublicModel{"params.json of Llama 2 7B",
                    R"({"dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-06,
                        "vocab_size": -1})",
                    6'738'415'616, "llama-7b"},
        PublicModel{"T5-small",
                    R"({"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512, "num_heads": 8, "num_layers": 6,
                        "relative_attention_num_buckets": 32, "vocab_size": 32128})",
                    60'506'624, ""}),
    [](const testing::TestParamInfo<PublicModel>& one) {
      std::string name = one.param.name;
      std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
      return name;
    });

TEST(ImportModel, AFileOfLayersHasTheParametersOfTheModel) {
  const ImportedModel model = import_model("config.json",
                                           R"({"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512,
                                               "num_heads": 8, "num_layers": 6, "vocab_size": 32128})",
                                           0);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "dadsim-imported-layers.xml";
  std::ofstream(path) << file_of_layers("config.json", model.shape);
  scenario::Findings findings(path.string());
  const auto read = scenario::read_workload_file(path.string(), findings);
  findings.throw_if_any();
  std::filesystem::remove(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape.parameters(), model.shape.parameters());
  EXPECT_EQ(read->shape.layers.size(), model.shape.layers.size());
  double macs = 0, those = 0;
  for (const spec::LayerShape& layer : model.shape.layers) macs += layer.forward_macs_per_sample;
  for (const spec::LayerShape& layer : read->shape.layers) those += layer.forward_macs_per_sample;
  EXPECT_EQ(those, macs);
}

TEST(ImportModel, TakesTheSequenceThatIsAskedFor) {
  const std::string qwen = R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
    "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "tie_word_embeddings": true,
    "vocab_size": 151936})";
  EXPECT_EQ(import_model("config.json", qwen, 1000).sizes.at("sequence"), "1000");
  EXPECT_EQ(import_model("config.json", qwen, 0).sizes.at("sequence"), "4096");
}

std::string refused(const std::string& config, std::int64_t sequence = 0) {
  try {
    import_model("config.json", config, sequence);
  } catch (const InputError& error) {
    return error.diagnostics().front().what;
  }
  return "";
}

/// Every key that has a default in the configuration class of its model type can be left out.
TEST(ImportModel, TakesTheDefaultsOfTheClass) {
  const ImportedModel llama = import_model("config.json", R"({"model_type": "llama"})", 0);
  EXPECT_EQ(llama.shape.parameters(), 6'738'415'616) << "LlamaConfig() is Llama 2 7B";
  const ImportedModel older = import_model("config.json", R"({"model_type": "gpt2", "hidden_size": 1024,
      "num_hidden_layers": 24, "num_attention_heads": 16})",
                                           0);
  EXPECT_EQ(older.shape.parameters(), 354'823'168) << "GPT-2 medium: a key by another name is no key that is left out";
  EXPECT_EQ(
      import_model("config.json", R"({"model_type": "mistral", "sliding_window": null})", 0).sizes.count("window"), 0);
}

TEST(ImportModel, SaysHowWeightsAreStored) {
  const auto stored = [](const std::string& how) {
    return import_model("config.json", R"({"model_type": "llama", "quantization_config": )" + how + "}", 0).quantised;
  };
  EXPECT_EQ(stored(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"), "bitsandbytes, 4 bit");
  EXPECT_EQ(stored(R"({"quant_method": "gptq", "bits": 4})"), "gptq, 4 bit");
  EXPECT_EQ(stored(R"({"quant_method": "mxfp4"})"), "mxfp4");
  EXPECT_EQ(import_model("config.json", R"({"model_type": "llama"})", 0).quantised, "");
}

TEST(ImportModel, TakesAnAdapterWithItsBaseOrByItsName) {
  const auto of = [](const char* text) { return formats::adapter_config_of(text).value(); };
  const formats::AdapterConfig named = of(R"({"peft_type": "LORA", "r": 16, "target_modules": ["q_proj", "v_proj"],
      "base_model_name_or_path": "meta-llama/Llama-3.1-8B-Instruct"})");
  const ImportedModel model = import_adapter("adapter_config.json", named, std::nullopt, 2048);
  EXPECT_EQ(timed_as_element(model, "", 2, "bf16"),
            "<timed-as workload=\"llama-3.1-8b\" sequence=\"2048\" batch=\"2\" precision=\"bf16\" "
            "attention=\"flash\" adapters=\"16\" adapted=\"attention\"/>\n");
  const formats::AdapterConfig all = of(R"({"peft_type": "LORA", "target_modules": "all-linear"})");
  EXPECT_EQ(all.rank, 8) << "LoraConfig()";
  EXPECT_FALSE(all.attention_alone);
  EXPECT_THROW(import_adapter("adapter_config.json", all, std::nullopt, 0), InputError);
  const ImportedModel base = import_model("config.json", R"({"model_type": "qwen3"})", 1024);
  EXPECT_EQ(import_adapter("adapter_config.json", all, base, 1024).shape.parameters(), base.shape.parameters());
  EXPECT_THROW(formats::adapter_config_of(R"({"peft_type": "IA3"})"), std::runtime_error);
  EXPECT_FALSE(formats::adapter_config_of(R"({"model_type": "llama"})"));
}

/// The scenario that `import` writes can be timed as it is, and passes the memory check.
TEST(ImportModel, AScenarioFitsItsDevices) {
  const auto written = [](const char* text) {
    ImportedModel model = import_model("config.json", text, 4096);
    return scenario_of(model, "", 1, "bf16");
  };
  const std::string small = written(R"({"model_type": "gpt2"})");
  EXPECT_EQ(small.find("sharding"), std::string::npos) << small;
  EXPECT_NE(written(R"({"model_type": "llama"})").find("sharding=\"parameters\""), std::string::npos);
  const std::string large = written(R"({"model_type": "deepseek_v3"})");
  EXPECT_NE(large.find("recompute=\"full\" expert-parallel=\"8\""), std::string::npos) << large;
  EXPECT_EQ(large.find("nodes=\"1\""), std::string::npos) << large;
  for (const std::string& text : {small, large}) {
    EXPECT_EQ(text.find("memory="), std::string::npos);
    EXPECT_NO_THROW(scenario::ScenarioSource("imported.xml", text).load({}, make_catalog_without_learning()));
  }
}

/// The search for enough nodes stops at 1,024, and a remark says if they do not suffice.
TEST(ImportModel, RemarksOnAScenarioThatFitsNowhere) {
  const auto has_room = [](std::int64_t batch) {
    ImportedModel model = import_model("config.json", R"({"model_type": "gpt2"})", 1024);
    scenario_of(model, "", batch, "bf16");
    return std::ranges::find(model.remarks, formats::ModelRemark::no_room) == model.remarks.end();
  };
  EXPECT_TRUE(has_room(1));
  EXPECT_FALSE(has_room(1'000'000));
}

TEST(ImportModel, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(refused("{"), "is not the config.json of a model");
  EXPECT_EQ(refused(R"({"hidden_size": 8})"), "is not the config.json of a model");
  EXPECT_EQ(refused(R"({"model_type": "mamba"})"),
            "has model_type 'mamba' with blocks of Mamba, which no workload has");
  EXPECT_EQ(refused(R"({"model_type": "imagined"})"), "has model_type 'imagined', which dadsim does not know");
  EXPECT_EQ(refused(R"({"model_type": "qwen3_next"})"),
            "has model_type 'qwen3_next' with linear attention (Gated DeltaNet) in three blocks of four, which no "
            "workload has");
  EXPECT_EQ(refused(R"({"model_type": "camembert"})"), "lacks 'num_hidden_layers'");
  EXPECT_EQ(refused(R"({"model_type": "llama", "num_hidden_layers": "32"})"),
            "has 'num_hidden_layers', which is not a whole number from 1 to 10⁹");
  EXPECT_EQ(refused(R"({"model_type": "llama", "num_hidden_layers": 1000000, "hidden_size": 64,
                        "num_attention_heads": 4, "vocab_size": 100})"),
            "has layers 1000000, but workloads have at most 10000");
  EXPECT_EQ(refused(R"({"model_type": "vit", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2})", 8),
            "has samples that are not sequences of tokens; remove --sequence");
}

}  // namespace
}  // namespace dadsim::study
