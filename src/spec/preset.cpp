#include "spec/preset.hpp"

#include "spec/presets/presets.hpp"

namespace dadsim::spec {

Registry<Preset>& preset_registry() {
  static Registry<Preset> registry{
      "preset",
      {lenet_preset(), resnet_8_preset(), gru_classifier_preset(), transformer_classifier_preset(), vit_preset(),
       language_model_preset()},
  };
  return registry;
}

ParameterValues default_parameters(const Preset& preset) {
  ParameterValues values;
  for (const ParameterSpec& parameter : preset.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace dadsim::spec
