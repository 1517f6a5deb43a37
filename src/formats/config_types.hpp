#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/json.hpp"
#include "formats/model_config.hpp"
#include "spec/workload.hpp"

namespace dadsim::formats {

// Include this only in source files: the JSON library takes the compiler a second.

/// Reader of the keys of a config.json. Throws std::runtime_error, with a message for the user.
class ConfigKeys {
 public:
  explicit ConfigKeys(const Json& config) : config_(config) {}

  bool has(const char* key) const { return config_.contains(key) && !config_[key].is_null(); }

  std::int64_t size(const char* key, std::int64_t least = 1) const {
    constexpr double kMost = 1e9;
    if (!has(key)) throw std::runtime_error(fmt::format("lacks '{}'", key));
    const Json& value = config_[key];
    if (!value.is_number_integer() || value.get<double>() < static_cast<double>(least) || value.get<double>() > kMost)
      throw std::runtime_error(fmt::format("has '{}', which is not a whole number from {} to 10⁹", key, least));
    return value.get<std::int64_t>();
  }
  std::int64_t size_or(const char* key, std::int64_t otherwise, std::int64_t least = 0) const {
    return has(key) ? size(key, least) : otherwise;
  }
  bool flag(const char* key, bool otherwise) const {
    return has(key) && config_[key].is_boolean() ? config_[key].get<bool>() : otherwise;
  }
  std::string text(const char* key) const {
    return has(key) && config_[key].is_string() ? config_[key].get<std::string>() : "";
  }
  double number(const char* key, double otherwise) const {
    return has(key) && config_[key].is_number() ? config_[key].get<double>() : otherwise;
  }
  ConfigKeys within(const char* key) const { return ConfigKeys(json(key)); }
  const Json& json(const char* key) const {
    static const Json kEmpty = Json::object();
    return has(key) && config_[key].is_object() ? config_[key] : kEmpty;
  }
  /// Returns the number of members of a list or an object; 0 if the key is missing.
  std::size_t count(const char* key) const { return has(key) ? config_[key].size() : 0; }
  std::string text_at(const char* key, std::size_t i) const {
    return config_[key][i].is_string() ? config_[key][i].get<std::string>() : "";
  }
  bool is_list(const char* key) const { return has(key) && config_[key].is_array(); }

 private:
  const Json& config_;
};

/// A size of a network, and the key that sets it.
struct SizeKey {
  const char* size;
  const char* key;
  std::optional<std::int64_t> otherwise = {};  ///< default in the class of the model type; none: the key is required
  std::int64_t least = 1;
};

/// Reads the sizes of `rows`, in their order.
inline void read_sizes(const ConfigKeys& keys, std::initializer_list<SizeKey> rows, spec::Sizes& sizes) {
  for (const SizeKey& row : rows)
    sizes[row.size] = row.otherwise ? keys.size_or(row.key, *row.otherwise, row.least) : keys.size(row.key, row.least);
}

/// Reads the sizes whose keys most classes share.
inline void read_usual_sizes(const ConfigKeys& keys, spec::Sizes& sizes) {
  read_sizes(keys, {{"layers", "num_hidden_layers"}, {"hidden", "hidden_size"}, {"heads", "num_attention_heads"}},
             sizes);
}

/// Returns the model types with a single causal stack, in alphabetical order.
std::vector<std::string> decoder_types();

/// Reads the keys of a type with a single causal stack; returns false for other types.
bool read_decoder(const std::string& type, const ConfigKeys& keys, ModelConfig& model);

}  // namespace dadsim::formats
