// Tests laws of the algorithms on every kind of network: convolutions, recurrences, attention, norms and tables.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "algorithms/one_step.hpp"
#include "models/thread_counts.hpp"
#include "spec/preset.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

/// A small network. If each site computes batch statistics over its own samples, the gradient differs from that of
/// pooled samples.
struct SmallNetwork {
  std::string name;
  spec::SampleShape sample;
  spec::ModelSpec model;
  bool batch_statistics = false;
};

spec::ModelSpec preset(const std::string& name, const spec::SampleShape& sample, std::int64_t classes,
                       const spec::ParameterValues& given) {
  const spec::Preset& preset = *spec::preset_registry().find(name);
  spec::ParameterValues values = default_parameters(preset.parameters);
  for (const auto& [parameter, value] : given) values.at(parameter) = value;
  return preset.make(values, sample, classes);
}

spec::ModelSpec lstm(std::int64_t classes) {
  return {.name = "lstm",
          .layers = {spec::RecurrentSpec{.cell = spec::RecurrentSpec::Cell::lstm, .units = 6, .bias = true},
                     spec::SelectSpec{.last = true},
                     spec::DenseSpec{.units = classes, .activation = spec::Activation::identity}}};
}

std::vector<SmallNetwork> small_networks() {
  const spec::SampleShape digit{.height = 28, .width = 28, .channels = 1};
  const spec::SampleShape image{.height = 8, .width = 8, .channels = 3};
  const spec::SampleShape sequence{.height = 1, .width = 9, .channels = 3};
  const spec::SampleShape text{.height = 1, .width = 7, .channels = 1, .vocabulary = 11};
  const spec::ParameterValues transformer{{"width", "8"}, {"heads", "2"}, {"blocks", "2"}, {"hidden", "12"}};
  spec::ParameterValues patches = transformer;
  patches["patch"] = "4";
  spec::ParameterValues dropping = transformer;
  dropping["dropout"] = "0.2";
  spec::ParameterValues class_token = dropping;
  class_token["pooling"] = "class-token";
  return {
      {"lenet", digit, preset("lenet", digit, 4, {})},
      {"resnet_8", image, preset("resnet-8", image, 4, {{"width", "4"}}), true},
      {"gru_classifier", sequence, preset("gru-classifier", sequence, 4, {{"hidden", "8"}})},
      {"lstm", sequence, lstm(4)},
      {"transformer_of_numbers", sequence, preset("transformer-classifier", sequence, 4, class_token)},
      {"transformer_of_symbols", text, preset("transformer-classifier", text, 4, dropping)},
      {"vit", image, preset("vit", image, 4, patches)},
      {"language_model", text, preset("language-model", text, 11, transformer)},
  };
}

/// Returns true if an algorithm accepts a network.
bool goes_with(const SynchronousMethod& info, const SmallNetwork& network) {
  const spec::RunSpec run = run_of(info);
  return faults_of(info, {run, 3, &network.model, network.sample}).empty();
}

struct Pair {
  std::string algorithm;
  SmallNetwork network;
};

std::string to_string(const Pair& pair) {
  std::string name = pair.algorithm + "_" + pair.network.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

void PrintTo(const Pair& pair, std::ostream* out) { *out << to_string(pair); }

/// Returns pairs of an algorithm, which must share one network and fulfil `applies`, and a network that it supports.
std::vector<Pair> pairs(bool (*applies)(const SynchronousMethod&)) {
  // Computed once per process, as some methods build the network to check whether they support it.
  static const std::vector<Pair> kAll = [] {
    std::vector<Pair> all;
    const std::vector<SmallNetwork> networks = small_networks();
    for (const SynchronousMethod& info : algorithm_registry().all()) {
      if (info.sharing != Sharing::one_network) continue;
      for (const SmallNetwork& network : networks) {
        if (goes_with(info, network)) all.push_back({info.name, network});
      }
    }
    return all;
  }();
  std::vector<Pair> chosen = kAll;
  std::erase_if(chosen, [applies](const Pair& pair) { return !applies(algorithm_registry().at(pair.algorithm)); });
  return chosen;
}

class Networks : public testing::TestWithParam<Pair> {
 protected:
  const std::string& algorithm() const { return GetParam().algorithm; }
  const SynchronousMethod& info() const { return algorithm_registry().at(algorithm()); }
  const SmallNetwork& network() const { return GetParam().network; }
  OneStep::Setup setup(spec::ExchangeMode mode) const {
    OneStep::Setup setup;
    setup.model = network().model;
    setup.sample = network().sample;
    setup.rows = {3, 0, 5};
    setup.exchange = mode;
    setup.parameters = algorithm_registry().at(algorithm()).lossless;
    return setup;
  }
};

class ExactOnNetworks : public Networks {};

TEST_P(ExactOnNetworks, WithoutLossTheGradientIsThePooledOne) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup other = setup(mode);
    other.parameters.clear();
    const OneStep expected(network().batch_statistics ? "gradient-sharing" : "pooled", other);
    EXPECT_LT(OneStep(algorithm(), setup(mode)).relative_difference(expected),
              info().exact(run_of(info())) ? 1e-5 : 1e-4)
        << to_string(mode);
  }
}

TEST_P(Networks, BytesRecordedAreBytesHandedOver) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    OneStep::Setup compressing = setup(mode);
    compressing.parameters.clear();
    const OneStep step(algorithm(), compressing);
    EXPECT_EQ(step.recorded().over, step.uplink_bytes);
    EXPECT_EQ(step.recorded().down, step.downlink_bytes);
    EXPECT_GT(step.uplink_bytes[0], 0);
  }
}

TEST_P(Networks, SameBitsForAnyNumberOfThreads) {
  const auto everything = [&] {
    const OneStep step(algorithm(), setup(spec::ExchangeMode::aggregator));
    std::vector<models::Matrix> all;
    for (const models::LayerGradient& gradient : step.gradient.matrices) {
      all.push_back(gradient.weight);
      all.push_back(gradient.bias);
    }
    for (const models::Vector& vector : step.gradient.vectors) all.push_back(vector);
    return all;
  };
  test::expect_same_for_thread_counts(everything,
                                      [](const std::vector<models::Matrix>& a, const std::vector<models::Matrix>& b) {
                                        return std::equal(a.begin(), a.end(), b.begin(), b.end(), test::same_bits);
                                      });
}

const auto kNamed = [](const auto& param) { return to_string(param.param); };

INSTANTIATE_TEST_SUITE_P(Registry, Networks, testing::ValuesIn(pairs([](const SynchronousMethod&) { return true; })),
                         kNamed);

// Signs do not sum gradients, estimates are right only on average, and Dion shares directions instead of gradients.
INSTANTIATE_TEST_SUITE_P(Registry, ExactOnNetworks, testing::ValuesIn(pairs([](const SynchronousMethod& info) {
                           return !info.applies_signs && !info.estimates && info.optimizer != Needs::muon;
                         })),
                         kNamed);

}  // namespace
}  // namespace dadsim::algorithms
