#pragma once

#include <stdexcept>
#include <string>

#include "spec/layer_shape.hpp"
#include "spec/model_specification.hpp"
#include "spec/sample_shape.hpp"

namespace dadsim::spec {

/// Thrown if a layer does not fit its input.
class ModelMistake : public std::invalid_argument {
 public:
  ModelMistake(const std::string& what, std::string remedy) : std::invalid_argument(what), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// Returns the shape of a layer's output for values of shape `in`. Throws ModelMistake if they do not fit.
SampleShape output_shape(const LayerSpec& layer, const SampleShape& in);

/// Returns the network as timing sees it: its layers in the order of the forward pass, including layers without a
/// matrix. Throws ModelMistake if layers do not fit.
ModelShape model_shape(const ModelSpec& model, const SampleShape& sample);

/// Returns a description such as "MLP 784-512-10", or the model's given name.
std::string model_name(const ModelSpec& model, const SampleShape& sample);

/// Returns the number of a layer's learned parameters, for inputs of shape `in`. Throws ModelMistake.
std::int64_t parameters_of(const LayerSpec& layer, const SampleShape& in);

}  // namespace dadsim::spec
