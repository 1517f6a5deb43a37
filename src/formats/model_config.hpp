#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/workload.hpp"

namespace dadsim::formats {

/// Differences between the model and its layers here.
enum class ModelRemark : std::uint8_t {
  irregular_windows,  ///< some blocks have a window, without a period: none has one here
  projection_bias,    ///< the projection after attention has biases, and none here
  dropout,            ///< it has dropout
  both_heads,         ///< it is timed in pre-training
  pooler_alone,       ///< it is timed without a head
  thousand_classes,   ///< the number of classes is not in the file
  language_part,      ///< it has towers for pictures or sound as well
  feed_forward_bias,  ///< feed-forward layers and the decoder have biases, and none here
  decoder_bias,       ///< the decoder has a bias, and none here
  no_room,            ///< no scenario of it with enough nodes was found
};

/// A network in a config.json of Hugging Face's transformers.
struct ModelConfig {
  std::string type;          ///< its model_type, e.g. "llama"
  std::string architecture;  ///< function in spec/workloads/architectures.hpp, as in workloads.csv: "decoder"
  spec::Sizes sizes;         ///< sizes of that architecture
  std::int64_t longest = 0;  ///< tokens of its longest sequence; 0: it has no sequences
  std::vector<ModelRemark> remarks = {};
  std::string quantised = {};  ///< compressed storage of its weights: "gptq, 4 bit"; empty: none
};

/// Contents of an adapter_config.json of PEFT.
struct AdapterConfig {
  std::string base;  ///< name or path of the base model; may be empty
  std::int64_t rank = 0;
  bool attention_alone = false;  ///< no matrix of a feed-forward network has an adapter
};

/// Reads an adapter_config.json. None if the text is no JSON object with a peft_type. Throws std::runtime_error, with a
/// message for the user, for an adapter other than LoRA.
std::optional<AdapterConfig> adapter_config_of(const std::string& text);

/// Returns the types of models whose keys are known.
std::vector<std::string> known_model_types();

/// Reads a config.json, or a params.json of Llama or Mistral: each type's keys as in its class of transformers, with
/// the class's defaults (config_defaults.csv). `sequence` above 0: tokens per sample; otherwise the usual number
/// (4,096, or the model's longest). None if the text is no JSON object with a model_type. Throws std::runtime_error,
/// with a message for the user, for an unknown type, a missing key or an invalid size.
std::optional<ModelConfig> model_config_of(const std::string& text, std::int64_t sequence);

}  // namespace dadsim::formats
