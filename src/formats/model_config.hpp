#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/workload.hpp"

namespace dadsim::formats {

/// Differences between a model and the layers that represent it.
enum class ModelRemark : std::uint8_t {
  irregular_windows,  ///< some blocks have a window, but not periodically: the layers have no window
  projection_bias,    ///< the model's projection after attention has biases, which the layers lack
  dropout,            ///< the model has dropout
  both_heads,         ///< the layers are timed with the heads of pre-training
  pooler_alone,       ///< the layers are timed without a head
  thousand_classes,   ///< the file lacks the number of classes, which is taken as 1,000
  language_part,      ///< the model's towers for pictures or sound are left out
  feed_forward_bias,  ///< the model's feed-forward layers and decoder have biases, which the layers lack
  decoder_bias,       ///< the model's decoder has a bias, which the layers lack
  no_room,            ///< no scenario with enough nodes for the model was found
};

/// A network in a config.json of Hugging Face's transformers.
struct ModelConfig {
  std::string type;          ///< model_type of the file, e.g. "llama"
  std::string architecture;  ///< function in spec/workloads/architectures.hpp, as in workloads.csv: "decoder"
  spec::Sizes sizes;         ///< sizes of the network in that architecture
  std::int64_t longest = 0;  ///< tokens of the longest sequence; 0: the model has no sequences
  std::vector<ModelRemark> remarks = {};
  std::string quantised = {};  ///< quantisation of the stored weights: "gptq, 4 bit"; empty: none
};

/// Contents of an adapter_config.json of PEFT.
struct AdapterConfig {
  std::string base;  ///< name or path of the base model; may be empty
  std::int64_t rank = 0;
  bool attention_alone = false;  ///< true: no matrix of a feed-forward network has an adapter
};

/// Reads an adapter_config.json. Returns none if the text is not a JSON object with a peft_type. Throws
/// std::runtime_error, with a message for the user, for an adapter other than LoRA.
std::optional<AdapterConfig> adapter_config_of(const std::string& text);

/// Returns the types of models whose keys are known.
std::vector<std::string> known_model_types();

/// Reads a config.json, or a params.json of Llama or Mistral, with the keys of each type's class in transformers and
/// the class's defaults (config_defaults.csv). `sequence`: tokens per sample; 0: the usual number (4,096, or the
/// model's longest sequence if that is shorter). Returns none if the text is not a JSON object with a model_type.
/// Throws std::runtime_error, with a message for the user, for an unknown type, a missing key or an invalid size.
std::optional<ModelConfig> model_config_of(const std::string& text, std::int64_t sequence);

}  // namespace dadsim::formats
