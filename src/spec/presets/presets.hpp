#pragma once

#include "spec/preset.hpp"

// One function per preset, each in the file with its name.

namespace dadsim::spec {

Preset lenet_preset();
Preset resnet_8_preset();
Preset gru_classifier_preset();
Preset transformer_classifier_preset();
Preset vit_preset();
Preset language_model_preset();

}  // namespace dadsim::spec
