#include "formats/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "formats/config_defaults.csv.hpp"
#include "formats/config_types.hpp"
#include "support/fact_table.hpp"

namespace dadsim::formats {
namespace {

constexpr std::int64_t kUsualTokens = 4096;

void of_bert(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "bert";
  auto& sizes = model.sizes;
  read_usual_sizes(keys, sizes);
  read_sizes(keys,
             {{"vocabulary", "vocab_size"},
              {"positions", "max_position_embeddings", 512, 0},
              {"segments", "type_vocab_size", 2, 0}},
             sizes);
  model.longest = sizes["positions"];
  if (keys.size_or("intermediate_size", 4 * sizes["hidden"]) != 4 * sizes["hidden"])
    throw std::runtime_error("needs an 'intermediate_size' of four times 'hidden_size', as in BERT");
  model.remarks.push_back(ModelRemark::both_heads);
}

/// Reads DistilBERT, which has no segments and no pooler, and is timed without a head.
void of_distilbert(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "bert";
  auto& sizes = model.sizes;
  read_sizes(keys,
             {{"layers", "n_layers"},
              {"hidden", "dim"},
              {"heads", "n_heads"},
              {"vocabulary", "vocab_size"},
              {"positions", "max_position_embeddings"}},
             sizes);
  sizes["segments"] = sizes["masked"] = 0;
  if (keys.size("hidden_dim") != 4 * sizes["hidden"])
    throw std::runtime_error("needs a 'hidden_dim' of four times 'dim', as in DistilBERT");
  model.longest = sizes["positions"];
  model.remarks = {ModelRemark::pooler_alone};
}

void of_roberta(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kOffset = 2;  // rows of the position table reserved for padding
  of_bert(keys, model);
  model.longest -= kOffset;
  model.sizes["masked"] = 0;
  model.sizes["pooler"] = 1;
  model.remarks = {ModelRemark::pooler_alone};
}

void of_vit(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "vit";
  auto& sizes = model.sizes;
  read_usual_sizes(keys, sizes);
  read_sizes(keys, {{"image", "image_size", 224, 0}, {"patch", "patch_size", 16}}, sizes);
  if (const std::int64_t between = keys.size_or("intermediate_size", 4 * sizes["hidden"]);
      between != 4 * sizes["hidden"])
    sizes["feed-forward"] = between;
  const auto labels = static_cast<std::int64_t>(keys.count("id2label"));
  sizes["classes"] = labels > 0 ? labels : keys.size_or("num_labels", 0);
  if (sizes["classes"] == 0) {
    sizes["classes"] = 1000;
    model.remarks.push_back(ModelRemark::thousand_classes);
  }
}

void of_t5(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "encoder-decoder";
  auto& sizes = model.sizes;
  sizes["layers"] = keys.size("num_layers");
  if (const std::int64_t other = keys.size_or("num_decoder_layers", sizes["layers"]); other != sizes["layers"])
    sizes["decoder-layers"] = other;
  read_sizes(keys,
             {{"hidden", "d_model"}, {"heads", "num_heads"}, {"feed-forward", "d_ff"}, {"vocabulary", "vocab_size"}},
             sizes);
  if (const std::int64_t head = keys.size("d_kv"); head * sizes["heads"] != sizes["hidden"]) sizes["head-size"] = head;
  sizes["tied"] = keys.flag("tie_word_embeddings", true) ? 1 : 0;
  const bool gated = keys.text("feed_forward_proj").starts_with("gated");
  sizes["mlp"] = gated ? 0 : 1;
  sizes["buckets"] = keys.size_or("relative_attention_num_buckets", 32);
  // T5's pre-training has 114 targets per 512 tokens of input (arXiv:1910.10683, section 3.1.4).
  sizes["target-length"] = 114;
  model.longest = 512;
}

void of_whisper(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "encoder-decoder";
  auto& sizes = model.sizes;
  read_sizes(keys,
             {{"layers", "encoder_layers"},
              {"decoder-layers", "decoder_layers"},
              {"hidden", "d_model"},
              {"heads", "encoder_attention_heads"},
              {"feed-forward", "encoder_ffn_dim"},
              {"vocabulary", "vocab_size"},
              {"mels", "num_mel_bins", 80, 0},
              {"sequence", "max_source_positions", 1500, 0},
              {"positions", "max_target_positions", 448, 0},
              {"target-length", "max_target_positions", 448, 0}},
             sizes);
  sizes["tied"] = sizes["mlp"] = sizes["biases"] = sizes["norm"] = 1;
}

Json with_defaults(Json keys, const std::string& type);

void of_clip(const ConfigKeys& keys, ModelConfig& model) {
  const Json text = with_defaults(keys.json("text_config"), "clip_text_model");
  const Json image = with_defaults(keys.json("vision_config"), "clip_vision_model");
  model.architecture = "clip";
  read_usual_sizes(ConfigKeys(image), model.sizes);
  read_sizes(ConfigKeys(image), {{"image", "image_size"}, {"patch", "patch_size"}}, model.sizes);
  read_sizes(ConfigKeys(text),
             {{"text-layers", "num_hidden_layers"},
              {"text-hidden", "hidden_size"},
              {"text-heads", "num_attention_heads"},
              {"vocabulary", "vocab_size"},
              {"sequence", "max_position_embeddings"}},
             model.sizes);
  model.sizes["joint"] = keys.size_or("projection_dim", 512);
  if (const std::int64_t between = ConfigKeys(image).size("intermediate_size"); between != 4 * model.sizes["hidden"])
    model.sizes["feed-forward"] = between;
  if (ConfigKeys(text).size("intermediate_size") != 4 * model.sizes["text-hidden"])
    throw std::runtime_error("needs an 'intermediate_size' of the text model of four times its 'hidden_size'");
}

/// A type of model, and the function that reads its keys.
struct ConfigType {
  const char* name;
  void (*read)(const ConfigKeys& keys, ModelConfig& model);
};
constexpr std::array<ConfigType, 6> kEncoders{{{"bert", of_bert},
                                               {"camembert", of_roberta},
                                               {"distilbert", of_distilbert},
                                               {"roberta", of_roberta},
                                               {"t5", of_t5},
                                               {"xlm-roberta", of_roberta}}};
// Types of models without sequences.
constexpr std::array<ConfigType, 3> kOfOtherSamples{{{"clip", of_clip}, {"vit", of_vit}, {"whisper", of_whisper}}};

/// Common types with layers that no workload of dadsim has.
constexpr std::array<std::pair<const char*, const char*>, 6> kUnlike{
    {{"qwen3_next", "linear attention (Gated DeltaNet) in three blocks of four"},
     {"modernbert", "an encoder with gated feed-forward networks and windows to both sides"},
     {"mllama", "blocks that attend to pictures, between blocks of text"},
     {"mamba", "blocks of Mamba"},
     {"mamba2", "blocks of Mamba-2"},
     {"jamba", "blocks of Mamba, and of attention with experts"}}};

/// Returns the keys, with defaults of the type's class for missing ones. A key that the file has under its other name
/// is not missing.
Json with_defaults(Json keys, const std::string& type) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kOtherNames{
      {{"n_embd", "hidden_size"},
       {"n_layer", "num_hidden_layers"},
       {"n_head", "num_attention_heads"},
       {"n_positions", "max_position_embeddings"}}};
  static const FactTable kTable(tables::kConfigDefaults, {"type", "keys", "date", "source"});
  const auto row = std::ranges::find_if(kTable.rows(), [&](const auto& one) { return one.text("type") == type; });
  if (row == kTable.rows().end()) return keys;
  std::istringstream words(row->text("keys"));
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('='));
    const auto* other = std::ranges::find(kOtherNames, key, &std::pair<const char*, const char*>::first);
    if (keys.contains(key) || (other != kOtherNames.end() && keys.contains(other->second))) continue;
    keys[key] = Json::parse(word.substr(key.size() + 1));
  }
  return keys;
}

/// Converts a params.json (meta-llama/llama-models, ModelArgs; mistral-inference, TransformerArgs) to the keys of
/// transformers.
Json as_config(const Json& params) {
  const ConfigKeys keys(params);
  for (const char* unknown : {"moe", "moe_args", "vision_chunk_size"}) {
    if (keys.has(unknown)) throw std::runtime_error(fmt::format("has '{}', which dadsim does not support", unknown));
  }
  Json config{{"model_type", "llama"},
              {"hidden_size", keys.size("dim")},
              {"num_hidden_layers", keys.size("n_layers")},
              {"num_attention_heads", keys.size("n_heads")},
              {"num_key_value_heads", keys.size_or("n_kv_heads", keys.size("n_heads"), 1)}};
  // Files of Llama 1 and 2 lack the size of the vocabulary; the tokenizer determines it.
  const std::int64_t words = params.value("vocab_size", -1);
  if (words > 0) config["vocab_size"] = words;
  if (keys.has("head_dim")) config["head_dim"] = keys.size("head_dim");
  std::int64_t between = 2 * 4 * keys.size("dim") / 3;
  between = static_cast<std::int64_t>(keys.number("ffn_dim_multiplier", 1) * static_cast<double>(between));
  const std::int64_t multiple = keys.size_or("multiple_of", 256, 1);
  config["intermediate_size"] = keys.size_or("hidden_dim", (between + multiple - 1) / multiple * multiple, 1);
  return config;
}

std::string quantisation_of(const ConfigKeys& keys) {
  if (!keys.has("quantization_config")) return {};
  const ConfigKeys how = keys.within("quantization_config");
  const std::int64_t bits = how.flag("load_in_4bit", false) ? 4 : how.flag("load_in_8bit", false) ? 8 : 0;
  const std::string method = how.text("quant_method").empty() ? "quantization_config" : how.text("quant_method");
  const auto stored = static_cast<std::int64_t>(how.number("bits", static_cast<double>(bits)));
  return stored > 0 ? fmt::format("{}, {} bit", method, stored) : method;
}

}  // namespace

std::vector<std::string> known_model_types() {
  std::vector<std::string> types;
  for (const std::string& name : decoder_types())
    types.push_back(name.ends_with("_text") ? name.substr(0, name.rfind('_')) : name);
  for (const ConfigType& one : kEncoders) types.emplace_back(one.name);
  for (const ConfigType& one : kOfOtherSamples) types.emplace_back(one.name);
  return types;
}

std::optional<AdapterConfig> adapter_config_of(const std::string& text) {
  const Json config = Json::parse(text, nullptr, false);
  if (config.is_discarded() || !config.is_object() || !config.contains("peft_type")) return std::nullopt;
  const ConfigKeys keys(config);
  if (keys.text("peft_type") != "LORA")
    throw std::runtime_error(
        fmt::format("has adapters of peft_type '{}'; only LORA is supported", keys.text("peft_type")));
  AdapterConfig adapter{keys.text("base_model_name_or_path"), keys.size_or("r", 8, 1)};
  // Targets given as a pattern, or as "all-linear", count as including feed-forward networks.
  adapter.attention_alone = !keys.is_list("target_modules") && !keys.has("target_modules");
  if (!keys.is_list("target_modules")) return adapter;
  adapter.attention_alone = true;
  for (std::size_t i = 0; i < keys.count("target_modules"); ++i) {
    const std::string module = keys.text_at("target_modules", i);
    for (const char* part : {"gate", "up_proj", "down_proj", "mlp", "fc", "dense_h", "dense_4h", "w1", "w2", "w3"})
      adapter.attention_alone = adapter.attention_alone && module.find(part) == std::string::npos;
  }
  return adapter;
}

std::optional<ModelConfig> model_config_of(const std::string& text, std::int64_t sequence) {
  Json config = Json::parse(text, nullptr, false);
  if (config.is_discarded() || !config.is_object()) return std::nullopt;
  if (!config.contains("model_type") && config.contains("dim") && config.contains("n_layers"))
    config = as_config(config);
  const ConfigKeys whole(config);
  ModelConfig model;
  model.type = whole.text("model_type");
  if (model.type.empty()) return std::nullopt;
  model.quantised = quantisation_of(whole);
  if (const auto* other = std::ranges::find(kOfOtherSamples, model.type, &ConfigType::name);
      other != kOfOtherSamples.end()) {
    if (sequence > 0) throw std::runtime_error("has samples that are not sequences of tokens; remove --sequence");
    const Json keys = with_defaults(config, model.type);
    other->read(ConfigKeys(keys), model);
    return model;
  }
  // Reads the language part of a multimodal model. In older files, its keys are on the same level as those of the
  // towers.
  const bool nested = whole.has("text_config") && !whole.has("hidden_size");
  const std::string part = nested ? whole.within("text_config").text("model_type") : model.type;
  const std::vector<std::string> decoders = decoder_types();
  std::string type;
  for (const std::string& one : {part, model.type, model.type + "_text"}) {
    if (type.empty() && std::ranges::find(decoders, one) != decoders.end()) type = one;
  }
  if (nested || (!type.empty() && whole.has("vision_config"))) model.remarks.push_back(ModelRemark::language_part);
  const auto* encoder = std::ranges::find(kEncoders, model.type, &ConfigType::name);
  if (type.empty() && encoder == kEncoders.end()) {
    for (const auto& [unlike, why] : kUnlike) {
      if (part == unlike || model.type == unlike)
        throw std::runtime_error(fmt::format("has model_type '{}' with {}, which no workload has", unlike, why));
    }
    throw std::runtime_error(fmt::format("has model_type '{}', which dadsim does not know", model.type));
  }
  const Json keys = with_defaults(nested ? whole.json("text_config") : config, type.empty() ? encoder->name : type);
  if (!read_decoder(type, ConfigKeys(keys), model)) encoder->read(ConfigKeys(keys), model);
  std::int64_t& tokens = model.sizes["sequence"];
  tokens = sequence > 0 ? sequence : model.longest > 0 ? std::min(model.longest, kUsualTokens) : kUsualTokens;
  if (model.architecture == "bert" && !model.sizes.contains("masked")) {
    // 15 % of the tokens are masked; for 512 tokens, 80 as in the authors' implementation.
    constexpr double kMasked = 0.15;
    model.sizes["masked"] =
        tokens == 512 ? 80 : static_cast<std::int64_t>(std::ceil(kMasked * static_cast<double>(tokens) - 1e-9));
  }
  return model;
}

}  // namespace dadsim::formats
