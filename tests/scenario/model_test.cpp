#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/generators.hpp"
#include "scenario/malformed_cases.hpp"
#include "spec/preset.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

class Model : public testing::Test {
 protected:
  Model() { folder_.write("platform.xml", fake_platform()); }

  scenario::Scenario load(const std::string& content, const std::vector<std::string>& overrides = {}) {
    const std::string path = folder_.write("scenario.xml", replaced(content, "@PLATFORM@", "platform.xml"));
    return load_scenario(path, overrides, fake_catalog());
  }

  /// Returns the error message without the name of the file.
  std::string refusal(const std::string& content) {
    try {
      load(content);
    } catch (const InputError& error) {
      return std::string(error.what()).substr(folder_.path("scenario.xml").size());
    }
    return "";
  }

  TemporaryFolder folder_;
};

const std::string kSymbols = R"(<grammar length="12" train="800" test="200"/>)";

std::string with_symbols(std::string_view model) {
  const std::string numbers = R"(<digits train="800" test="200"/>
    <split by="dirichlet" alpha="0.3"/>)";
  return replaced(with_model(model), numbers, kSymbols + "\n");
}

TEST_F(Model, LayersWithDefaults) {
  const spec::ModelSpec model = load(with_layers(R"(<convolution filters="4"/><max-pool/><mean-pool size="3"/>
      <gru units="5"/><lstm units="6"/><layer-norm/><attention/><batch-norm/><positions/><class-token/><dropout/>
      <residual><dense units="6" positions="each"/></residual><select/>)"))
                                    .model;
  const spec::ModelSpec expected{
      .name = "",
      .layers = {
          spec::ConvolutionSpec{4, 3, 1, 1, spec::Activation::relu, true},
          spec::PoolSpec{spec::PoolSpec::Kind::maximum, 2, 2}, spec::PoolSpec{spec::PoolSpec::Kind::mean, 3, 3},
          spec::RecurrentSpec{spec::RecurrentSpec::Cell::gru, 5, true},
          spec::RecurrentSpec{spec::RecurrentSpec::Cell::lstm, 6, true}, spec::LayerNormSpec{1e-5},
          spec::AttentionSpec{1, false, true}, spec::BatchNormSpec{1e-5, 0.1, spec::Activation::identity},
          spec::PositionsSpec{}, spec::ClassTokenSpec{}, spec::DropoutSpec{0.5},
          spec::ResidualSpec{{spec::DenseSpec{6, spec::Activation::relu, true, true}}, {}, spec::Activation::identity},
          spec::SelectSpec{false}, spec::DenseSpec{10, spec::Activation::identity, true, false}}};
  EXPECT_EQ(model, expected);
}

TEST_F(Model, LayersWithEverythingGiven) {
  const spec::ModelSpec model =
      load(with_model(R"(<model name="mine"><convolution filters="4" kernel="5" stride="2" padding="0" activation="gelu"
      bias="false" initial="0.2"/><mean-pool size="3" stride="2"/><max-pool size="3" stride="1"/><gru units="6" bias="false"/>
      <lstm units="6" bias="false"/><attention heads="2" causal="true" bias="false"/><layer-norm epsilon="1e-6"/>
      <batch-norm epsilon="1e-3" momentum="0.2" activation="relu"/><dropout rate="0.25"/>
      <residual activation="relu"><shortcut><dense units="3" positions="each" activation="tanh"/></shortcut>
        <dense units="3" positions="each" bias="false"/></residual>
      <select position="last"/><dense units="10" activation="sigmoid" positions="together"/></model>)"))
          .model;
  const spec::ModelSpec expected{
      .name = "mine",
      .layers = {spec::ConvolutionSpec{4, 5, 2, 0, spec::Activation::gelu, false, 0.2},
                 spec::PoolSpec{spec::PoolSpec::Kind::mean, 3, 2}, spec::PoolSpec{spec::PoolSpec::Kind::maximum, 3, 1},
                 spec::RecurrentSpec{spec::RecurrentSpec::Cell::gru, 6, false},
                 spec::RecurrentSpec{spec::RecurrentSpec::Cell::lstm, 6, false}, spec::AttentionSpec{2, true, false},
                 spec::LayerNormSpec{1e-6}, spec::BatchNormSpec{1e-3, 0.2, spec::Activation::relu},
                 spec::DropoutSpec{0.25},
                 spec::ResidualSpec{{spec::DenseSpec{3, spec::Activation::relu, false, true}},
                                    {spec::DenseSpec{3, spec::Activation::tanh, true, true}},
                                    spec::Activation::relu},
                 spec::SelectSpec{true}, spec::DenseSpec{10, spec::Activation::sigmoid, true, false}}};
  EXPECT_EQ(model, expected);
}

TEST_F(Model, OneLabelForEachPosition) {
  const std::string layers = R"(<model><embedding units="8"/><positions/><dense units="10" positions="each"/></model>)";
  const spec::ModelSpec expected{.name = "",
                                 .layers = {spec::EmbeddingSpec{8}, spec::PositionsSpec{},
                                            spec::DenseSpec{10, spec::Activation::identity, true, true}}};
  EXPECT_EQ(load(with_symbols(layers)).model, expected);
  EXPECT_EQ(refusal(with_symbols(replaced(layers, "each", "together"))),
            ":12: the model gives logits at 1 position, but a sample has 12 labels; use <dense> with "
            "positions=\"each\" as the last layer, and no layer that merges positions");
  EXPECT_EQ(refusal(with_symbols(R"(<model><dense units="10" positions="each"/></model>)")),
            ":12: <dense> reads numbers, not symbols; use <embedding> as the first layer");
}

TEST_F(Model, PresetsAreExpanded) {
  const spec::SampleShape digits{28, 28, 1};
  const spec::Preset& resnet = *spec::preset_registry().find("resnet-8");
  EXPECT_EQ(load(with_model(R"(<model preset="resnet-8"/>)")).model,
            resnet.make(default_parameters(resnet.parameters), digits, 10));
  EXPECT_EQ(load(with_model(R"(<model preset="resnet-8" width="5"/>)")).model,
            resnet.make({{"width", "5"}}, digits, 10));
  EXPECT_EQ(load(with_model(R"(<model preset="resnet-8"/>)"), {"model.width=5"}).model,
            resnet.make({{"width", "5"}}, digits, 10));
  EXPECT_EQ(load(with_model(R"(<model preset="resnet-8" name="small one"/>)")).model.name, "small one");
  EXPECT_EQ(load(with_model(R"(<model preset="lenet" activation="tanh"/>)")).model.layers.front(),
            spec::LayerSpec(spec::ConvolutionSpec{6, 5, 1, 2, spec::Activation::tanh, true}));
}

// The printed scenario has the same network, given by its layers instead of a preset.
TEST_F(Model, PrintsItsLayers) {
  for (const std::string preset : {"lenet", "resnet-8", "vit"}) {
    const scenario::Scenario scenario = load(with_model("<model preset=\"" + preset + "\"/>"));
    const std::string printed = scenario::print_scenario(scenario);
    EXPECT_EQ(printed.find("preset"), std::string::npos);
    EXPECT_NE(printed.find("<model name=\"" + preset + "\">"), std::string::npos);
    const std::string again = folder_.write("printed.xml", printed);
    EXPECT_EQ(scenario::load_scenario(again, {}, fake_catalog()).model, scenario.model);
  }
}

TEST_F(Model, ComesBackFromPrint) {
  EXPECT_TRUE(rc::check("a printed network reads as the same", [&] {
    const bool whole_labels = coin();
    const std::string model = some_model(whole_labels);
    const scenario::Scenario scenario = load(whole_labels ? with_model(model) : with_symbols(model));
    const std::string printed = scenario::print_scenario(scenario);
    RC_LOG() << model << "\n" << printed;
    RC_ASSERT(load(printed).model == scenario.model);
  }));
}

}  // namespace
}  // namespace dadsim::test
