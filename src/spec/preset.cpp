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

}  // namespace dadsim::spec
