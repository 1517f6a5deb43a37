#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/workload.hpp"

namespace dadsim::formats {

/// What the layers here do not have of it, or have beside it.
enum class ModelRemark : std::uint8_t {
  irregular_windows,  ///< some blocks have a window, in no order that repeats: none has one here
  projection_bias,    ///< the projection behind attention has biases, and none here
  dropout,            ///< it has dropout
  both_heads,         ///< it is timed in pre-training
  pooler_alone,       ///< it is timed without a head
  thousand_classes,   ///< it does not say how many classes it tells apart
  language_part,      ///< it has towers for pictures or sound as well
  feed_forward_bias,  ///< feed-forward layers and the decoder have biases, and none here
  decoder_bias,       ///< the decoder has a bias, and none here
  no_room,            ///< a scenario of it with enough nodes was not found
};

/// What a config.json of Hugging Face's transformers says of a network.
struct ModelConfig {
  std::string type;          ///< its model_type, e.g. "llama"
  std::string architecture;  ///< of the functions in spec/workloads/architectures.hpp, as in workloads.csv: "decoder"
  spec::Sizes sizes;         ///< of that architecture
  std::int64_t longest = 0;  ///< tokens of the longest sequence it is made for; 0: it has no sequences
  std::vector<ModelRemark> remarks = {};
  std::string quantised = {};  ///< how its weights are stored in fewer bits: "gptq, 4 bit"; empty: they are not
};

/// What an adapter_config.json of PEFT says.
struct AdapterConfig {
  std::string base;  ///< name or path of the model that it belongs to; may be empty
  std::int64_t rank = 0;
  bool attention_alone = false;  ///< no matrix of a feed-forward network has an adapter
};

/// Reads it. None where the text is no JSON object with a peft_type. Throws std::runtime_error, in words, where it is
/// no LoRA.
std::optional<AdapterConfig> adapter_config_of(const std::string& text);

/// Types of models whose keys are known.
std::vector<std::string> known_model_types();

/// Reads it, or a params.json of Llama or Mistral: the keys of each type of model as its class of transformers has
/// them, with the defaults of that class (config_defaults.csv).
/// Where `sequence` is above 0 samples have so many tokens, else as many as is usual (4,096, or what the model is made
/// for). None where the text is no JSON object with a model_type. Throws std::runtime_error, in words, where a type is
/// not known, or a key is missing or no size.
std::optional<ModelConfig> model_config_of(const std::string& text, std::int64_t sequence);

}  // namespace dadsim::formats
