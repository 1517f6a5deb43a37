#include "spec/preset.hpp"

#include <algorithm>

#include "spec/presets/presets.hpp"

namespace dadsim::spec {

const std::vector<Preset>& preset_registry() {
  static const std::vector<Preset> registry{
      lenet_preset(), resnet_8_preset(),       gru_classifier_preset(), transformer_classifier_preset(),
      vit_preset(),   language_model_preset(),
  };
  return registry;
}

const Preset* find_preset(const std::string& name) {
  const auto& registry = preset_registry();
  const auto found = std::ranges::find(registry, name, &Preset::name);
  return found == registry.end() ? nullptr : &*found;
}

ParameterValues default_parameters(const Preset& preset) {
  ParameterValues values;
  for (const ParameterSpec& parameter : preset.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace dadsim::spec
