#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/gradient_check.hpp"

// Compares with values of PyTorch 1.13, which golden/make_NAME.py wrote to tests/models/golden/NAME.txt.

namespace dadsim::test {

class Golden {
 public:
  explicit Golden(const std::string& name) {
    const std::string path = std::string(DADSIM_SOURCE_DIR) + "/tests/models/golden/" + name + ".txt";
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::string tensor;
    Eigen::Index rows = 0, cols = 0;
    while (file >> tensor >> rows >> cols) {
      models::MatrixOf<double> values(rows, cols);
      for (Eigen::Index i = 0; i < values.size(); ++i) file >> values.data()[i];
      if (!file) throw std::runtime_error(path + ": too few values of " + tensor);
      tensors_[tensor] = values;
    }
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }
  const models::MatrixOf<double>& at(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("no golden values of " + name);
    return found->second;
  }

  std::vector<std::int32_t> labels() const {
    const auto& values = at("labels");
    std::vector<std::int32_t> labels(static_cast<std::size_t>(values.size()));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(values.data()[i]);
    return labels;
  }

  /// Sets the network's weights to the golden weights; the file must have exactly the network's weights.
  template <class T>
  void put_parameters(models::NetworkOf<T>& network) const {
    std::size_t used = 0;
    const auto put = [&](auto& parameter, const std::string& name) {
      const auto& values = at(name);
      ASSERT_EQ(parameter.rows(), values.rows()) << name;
      ASSERT_EQ(parameter.cols(), values.cols()) << name;
      parameter = values.template cast<T>();
      ++used;
    };
    for (std::size_t l = 0; l < network.layers(); ++l) {
      put(network.layer(l).weight, "matrix" + std::to_string(l) + ".weight");
      if (network.layer(l).has_bias()) put(network.layer(l).bias, "matrix" + std::to_string(l) + ".bias");
    }
    auto& vectors = network.parameters().vectors;
    for (std::size_t v = 0; v < vectors.size(); ++v) put(vectors[v], "vector" + std::to_string(v));
    const auto stored = std::count_if(tensors_.begin(), tensors_.end(), [](const auto& entry) {
      return entry.first.starts_with("matrix") || entry.first.starts_with("vector");
    });
    EXPECT_EQ(used, static_cast<std::size_t>(stored));
  }

  /// Expects a small largest difference, relative to the largest golden value, or to 0.01 if all values are smaller.
  template <class Values>
  void expect_equal(const Values& values, const std::string& name, double tolerance = 1e-5) const {
    const auto& golden = at(name);
    ASSERT_EQ(values.rows(), golden.rows()) << name;
    ASSERT_EQ(values.cols(), golden.cols()) << name;
    const double scale = std::max(golden.cwiseAbs().maxCoeff(), 1e-2);
    EXPECT_LT((values.template cast<double>() - golden).cwiseAbs().maxCoeff(), tolerance * scale) << name;
  }

 private:
  std::map<std::string, models::MatrixOf<double>> tensors_;
};

/// Compares forward pass, loss and all gradients with the golden file, in float and in double.
template <class T>
void expect_golden_in(const Golden& golden, const spec::ModelSpec& spec, const spec::SampleShape& sample,
                      const models::Pass& pass) {
  models::NetworkOf<T> network(sample, spec, 1);
  golden.put_parameters(network);
  if (testing::Test::HasFatalFailure()) return;
  models::TapeOf<T> tape;
  models::GradientOf<T> gradient;
  const models::MatrixOf<T> inputs = golden.at("input").cast<T>();
  const T loss = loss_and_gradient(network, inputs, golden.labels(), pass, tape, &gradient);
  golden.expect_equal(models::MatrixOf<T>(models::MatrixOf<T>::Constant(1, 1, loss)), "loss");
  golden.expect_equal(models::as_rows(tape.logits(), golden.at("logits").cols()), "logits");
  for (std::size_t l = 0; l < network.layers(); ++l) {
    const std::string matrix = "gradient.matrix" + std::to_string(l);
    golden.expect_equal(gradient.matrices[l].weight, matrix + ".weight");
    if (network.layer(l).has_bias()) golden.expect_equal(gradient.matrices[l].bias, matrix + ".bias");
  }
  for (std::size_t v = 0; v < gradient.vectors.size(); ++v) {
    golden.expect_equal(gradient.vectors[v], "gradient.vector" + std::to_string(v));
  }
}

inline void expect_golden(const std::string& name, const spec::ModelSpec& spec, const spec::SampleShape& sample,
                          const models::Pass& pass = {.training = true, .sites = {}, .seed = 0, .step = 0}) {
  const Golden golden(name);
  expect_golden_in<float>(golden, spec, sample, pass);
  expect_golden_in<double>(golden, spec, sample, pass);
}

}  // namespace dadsim::test
