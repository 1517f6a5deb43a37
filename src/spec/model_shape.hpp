#pragma once

#include <stdexcept>
#include <string>

#include "spec/layer_shape.hpp"
#include "spec/model_specification.hpp"
#include "spec/sample_shape.hpp"

namespace dadsim::spec {

/// A layer does not fit what comes in.
class ModelMistake : public std::invalid_argument {
 public:
  ModelMistake(const std::string& what, std::string remedy) : std::invalid_argument(what), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// What a layer makes of values of shape `in`. Throws ModelMistake where it does not fit.
SampleShape output_shape(const LayerSpec& layer, const SampleShape& in);

/// The network as timing sees it: its layers in the order of the forward pass, those without a matrix included. Throws
/// ModelMistake where layers do not fit.
ModelShape model_shape(const ModelSpec& model, const SampleShape& sample);

/// E.g. "MLP 784-512-10", or the name that the model was given.
std::string model_name(const ModelSpec& model, const SampleShape& sample);

/// Learned floats of a layer for values of shape `in`. Throws ModelMistake.
std::int64_t parameters_of(const LayerSpec& layer, const SampleShape& in);

}  // namespace dadsim::spec
