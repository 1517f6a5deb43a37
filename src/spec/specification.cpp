#include "spec/specification.hpp"

#include <algorithm>
#include <stdexcept>

namespace dadsim::spec {

const char* to_string(Activation activation) {
  switch (activation) {
    case Activation::identity:
      return "identity";
    case Activation::relu:
      return "relu";
    case Activation::tanh:
      return "tanh";
    case Activation::sigmoid:
      return "sigmoid";
    case Activation::gelu:
      return "gelu";
  }
  throw std::logic_error("unknown activation");
}

const char* to_string(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::automatic:
      return "auto";
    case Fidelity::message:
      return "message";
    case Fidelity::flow:
      return "flow";
    case Fidelity::closed_form:
      return "closed-form";
  }
  throw std::logic_error("unknown fidelity");
}

const char* to_string(Attention attention) { return attention == Attention::plain ? "plain" : "flash"; }

std::vector<double> TrainingSpec::targets() const {
  std::vector<double> all{target_accuracy};
  all.insert(all.end(), further_targets.begin(), further_targets.end());
  return all;
}

double TrainingSpec::last_target() const { return std::ranges::max(targets()); }

const char* to_string(CompressSpec::Scope scope) {
  switch (scope) {
    case CompressSpec::Scope::layer:
      return "layer";
    case CompressSpec::Scope::tensor:
      return "tensor";
    case CompressSpec::Scope::model:
      return "model";
  }
  return "?";
}

const char* to_string(ExchangeMode exchange) { return exchange == ExchangeMode::aggregator ? "aggregator" : "peer"; }

}  // namespace dadsim::spec
