#include "formats/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "formats/config_types.hpp"

namespace dadsim::formats {
namespace {

constexpr std::int64_t kUsualTokens = 4096;

void of_bert(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "bert";
  auto& sizes = model.sizes;
  read_sizes(keys,
             {{"layers", "num_hidden_layers"},
              {"hidden", "hidden_size"},
              {"heads", "num_attention_heads"},
              {"vocabulary", "vocab_size"},
              {"positions", "max_position_embeddings", 512, 0},
              {"segments", "type_vocab_size", 2, 0}},
             sizes);
  model.longest = sizes["positions"];
  if (keys.size_or("intermediate_size", 4 * sizes["hidden"]) != 4 * sizes["hidden"])
    throw std::runtime_error("has an 'intermediate_size' that is not four times 'hidden_size', which no BERT here has");
  model.remarks.push_back(ModelRemark::both_heads);
}

void of_roberta(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kOffset = 2;  // rows of the table of positions that padding has
  of_bert(keys, model);
  model.longest -= kOffset;
  model.sizes["masked"] = 0;
  model.sizes["pooler"] = 1;
  model.remarks = {ModelRemark::pooler_alone};
}

void of_vit(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "vit";
  auto& sizes = model.sizes;
  read_sizes(keys,
             {{"layers", "num_hidden_layers"},
              {"hidden", "hidden_size"},
              {"heads", "num_attention_heads"},
              {"image", "image_size", 224, 0},
              {"patch", "patch_size", 16}},
             sizes);
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
  sizes["target-length"] = 114;  // of the pre-training of T5, behind 512 tokens (arXiv:1910.10683, section 3.1.4)
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

constexpr std::array<ConfigType, 3> kEncoders{{{"bert", of_bert}, {"roberta", of_roberta}, {"t5", of_t5}}};
// Two that have no sequence to ask for.
constexpr std::array<ConfigType, 2> kOfOtherSamples{{{"vit", of_vit}, {"whisper", of_whisper}}};

}  // namespace

std::vector<std::string> known_model_types() {
  std::vector<std::string> types;
  for (const ConfigType& one : decoder_configs()) types.emplace_back(one.name);
  for (const ConfigType& one : kEncoders) types.emplace_back(one.name);
  for (const ConfigType& one : kOfOtherSamples) types.emplace_back(one.name);
  return types;
}

std::optional<ModelConfig> model_config_of(const std::string& text, std::int64_t sequence) {
  const Json config = Json::parse(text, nullptr, false);
  if (config.is_discarded() || !config.is_object()) return std::nullopt;
  const ConfigKeys whole(config);
  ModelConfig model;
  model.type = whole.text("model_type");
  if (model.type.empty()) return std::nullopt;
  // The language part of a model that sees pictures too.
  const bool nested = !whole.has("hidden_size") && whole.within("text_config").has("hidden_size");
  const ConfigKeys keys = nested ? whole.within("text_config") : whole;
  if (nested) model.remarks.push_back(ModelRemark::language_part);
  if (const auto* other = std::ranges::find(kOfOtherSamples, model.type, &ConfigType::name);
      other != kOfOtherSamples.end()) {
    if (sequence > 0) throw std::runtime_error("has samples that are no sequences of tokens; no --sequence");
    other->read(keys, model);
    return model;
  }
  const auto decoder = std::ranges::find(decoder_configs(), model.type, &ConfigType::name);
  const auto* encoder = std::ranges::find(kEncoders, model.type, &ConfigType::name);
  if (decoder != decoder_configs().end()) {
    decoder->read(keys, model);
  } else if (encoder != kEncoders.end()) {
    encoder->read(keys, model);
  } else {
    throw std::runtime_error(fmt::format("is of model_type '{}', whose keys are not known here", model.type));
  }
  std::int64_t& tokens = model.sizes["sequence"];
  tokens = sequence > 0 ? sequence : model.longest > 0 ? std::min(model.longest, kUsualTokens) : kUsualTokens;
  if (model.architecture == "bert" && !model.sizes.contains("masked")) {
    // 15 % of the tokens; of 512 the 80 that the authors' implementation sets aside.
    constexpr double kMasked = 0.15;
    model.sizes["masked"] =
        tokens == 512 ? 80 : static_cast<std::int64_t>(std::ceil(kMasked * static_cast<double>(tokens) - 1e-9));
  }
  return model;
}

}  // namespace dadsim::formats
