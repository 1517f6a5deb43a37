#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/preset.hpp"
#include "study/composition/drawing.hpp"

namespace dadsim::test {

/// Draws small data, networks and training, so that a run takes milliseconds.
class LearningDrawing {
 public:
  LearningDrawing(Drawing& draw, std::int64_t sites) : draw_(draw), sites_(sites) {}

  /// Draws <data>. <model> must be drawn afterwards, to fit the data.
  Element data() {
    Element data{.name = "data", .origin = {}};
    data.children.push_back(source());
    if (draw_.chance(0.6)) data.children.push_back(split());
    if (!symbols_ && draw_.chance(0.2)) data.children.push_back(draw_.element("shift", {}, 0.5));
    return data;
  }

  Element model() {
    Element model{.name = "model", .origin = {}};
    if (draw_.chance(0.1)) Drawing::set(model, "name", "net");
    if (draw_.chance(0.12) && preset(model)) return model;
    if (symbols_) {
      add(model, "embedding");
      for (std::int64_t i = draw_.between(0, 2); i > 0; --i)
        add(model, draw_.one_of({"positions", "attention", "gru", "lstm", "layer-norm", "dropout"}));
      last(model, "each");
      return model;
    }
    if (pictures_) {
      for (std::int64_t i = draw_.between(0, 2); i > 0; --i) picture_layer(model);
    } else if (series_) {
      for (std::int64_t i = draw_.between(0, 2); i > 0; --i) series_layer(model);
      if (draw_.chance(0.3)) add(model, "class-token");
      if (draw_.chance(0.5)) add(model, draw_.one_of({"mean", "select"}));
    }
    for (std::int64_t i = draw_.between(0, 2); i > 0; --i) {
      if (draw_.chance(0.2)) add(model, draw_.one_of({"dropout", "layer-norm", "batch-norm"}));
      model.children.push_back(draw_.element("dense", {{"positions", ""}}, 0.3));
    }
    last(model, "");
    return model;
  }

  /// `optimizer`: an optimizer that all runs accept; empty: any optimizer.
  Element training(const std::string& optimizer, bool event_driven) {
    std::map<std::string, std::string> own{{"batch", draw_.one_of({"2", "3", "5"})},
                                           {"epochs", draw_.one_of({"0.5", "1", "2"})}};
    if (event_driven) own["batches"] = draw_.one_of({"", "proportional", "equal"});
    if (event_driven && draw_.chance(0.8)) own["seeds"] = "";
    Element training = draw_.element("training", own, 0.25);
    if (!optimizer.empty() || draw_.chance(0.6)) training.children.push_back(this->optimizer(optimizer));
    if (draw_.chance(0.25)) training.children.push_back(schedule());
    return training;
  }

  Element optimizer(const std::string& asked) {
    std::string name = draw_.one_of({"adam", "adamw", "sgd", "lamb", "lars", "muon"});
    if (asked == "plain-sgd") return draw_.element("sgd", {{"momentum", ""}, {"nesterov", ""}}, 0.3);
    if (asked == "muon") name = asked;
    if (asked == "adam") name = draw_.one_of({"adam", "adamw"});
    if (name == "sgd" && draw_.chance(0.7)) return draw_.element("sgd", {{"momentum", "0.9"}}, 0.3);
    return draw_.element(
        name,
        name == "sgd" ? std::map<std::string, std::string>{{"nesterov", ""}} : std::map<std::string, std::string>{},
        0.3);
  }

  bool symbols() const { return symbols_; }
  bool pictures() const { return pictures_; }

 private:
  void add(Element& model, const std::string& name) { model.children.push_back(draw_.element(name, {}, 0.3)); }
  void last(Element& model, const std::string& positions) {
    model.children.push_back(draw_.element(
        "dense", {{"units", std::to_string(classes_)}, {"positions", positions}, {"activation", ""}}, 0.3));
  }

  Element source() {
    const std::string kind = draw_.one_of({"digits", "digits", "digits", "tabular", "tabular", "shapes", "utterances",
                                           "grammar", "text", "csv", "csv", "idx", "cifar10", "ts"});
    classes_ = 10;
    pictures_ = kind == "digits" || kind == "shapes" || kind == "idx" || kind == "cifar10";
    series_ = kind == "utterances" || kind == "ts";
    symbols_ = kind == "grammar" || kind == "text";
    const bool apart = draw_.chance(0.5);  // held-back samples are in a separate file
    if (kind == "tabular") {
      const std::string classes = draw_.one_of({"2", "4"});
      classes_ = classes[0] - '0';
      return draw_.element(kind, {{"classes", classes}, {"train", "40"}, {"test", "20"}}, 0.4);
    }
    if (kind == "grammar") classes_ = 21;
    if (kind == "text") {
      classes_ = 22;
      return draw_.element(kind,
                           {{"file", "words.txt"},
                            {"train", draw_.one_of({"20", "30"})},
                            {"test", draw_.one_of({"5", "8"})},
                            {"length", draw_.one_of({"4", "8"})}},
                           0.3);
    }
    if (kind == "csv") return table();
    if (kind == "idx") {
      std::map<std::string, std::string> own{{"images", "train-images"}, {"labels", "train-labels"}};
      own["test-images"] = apart ? "held-images" : "";
      own["test-labels"] = apart ? "held-labels" : "";
      if (!apart) own.insert({{"train", "28"}, {"test", draw_.one_of({"8", "12"})}});
      return draw_.element(kind, own, 0.3);
    }
    if (kind == "cifar10") {
      std::map<std::string, std::string> own{{"files", "train-colours"},
                                             {"test-files", apart ? "held-colours" : ""},
                                             {"train", "20"},
                                             {"test", draw_.one_of({"6", "8"})}};
      return draw_.element(kind, own, 0.3);
    }
    if (kind == "ts") {
      classes_ = 2;
      return draw_.element(kind, {{"train-file", "train.ts"}, {"test-file", "held.ts"}}, 0.3);
    }
    std::map<std::string, std::string> own{{"train", kind == "digits" ? draw_.one_of({"24", "40"}) : "24"},
                                           {"test", "10"}};
    if (kind == "utterances") own["length"] = draw_.one_of({"8", "12"});
    if (kind == "grammar") own["length"] = draw_.one_of({"4", "8"});
    return draw_.element(kind, own, 0.3);
  }

  Element table() {
    classes_ = 3;
    std::map<std::string, std::string> own{{"target", "kind"}, {"train", ""}, {"test", ""}, {"names", ""}};
    const bool files = sites_ == 2 && draw_.chance(0.4);
    own["file"] = files ? "" : "table.csv";
    own["files"] = files ? "one.csv,two.csv" : "";
    own["site"] = !files && sites_ == 2 && draw_.chance(0.4) ? "place" : "";
    own["ignore"] = draw_.chance(0.3) ? "colour" : "";
    const bool apart = draw_.chance(0.3);
    own["test-file"] = apart && (files || !own["site"].empty()) ? "held.csv" : "";
    own["test-share"] = own["test-file"].empty() ? draw_.one_of({"", "0.2", "0.3"}) : "";
    if (!files && own["site"].empty() && draw_.chance(0.15)) {
      own["file"] = "bare.csv";
      own["names"] = "false";
      own["target"] = "4";
      own["ignore"] = draw_.chance(0.5) ? "5" : "";
    }
    if (draw_.chance(0.2)) own["train"] = draw_.one_of({"20", "30"});
    if (draw_.chance(0.2)) own["test"] = draw_.one_of({"6", "8"});
    return draw_.element("csv", own, 0.3);
  }

  Element split() {
    const std::string by =
        symbols_ ? draw_.one_of({"iid", "sizes"}) : draw_.one_of({"iid", "class", "dirichlet", "shards", "sizes"});
    std::map<std::string, std::string> own{{"by", by},    {"alpha", ""},       {"shards", ""},
                                           {"sizes", ""}, {"size-spread", ""}, {"size-exponent", ""}};
    if (by == "dirichlet") own.erase("alpha");
    if (by == "shards") own.erase("shards");
    if (by == "sizes") {
      for (std::int64_t i = 0; i < sites_; ++i) own["sizes"] += fmt::format("{}{}", i == 0 ? "" : " ", 3 + 2 * i % 5);
    }
    if ((by == "iid" || by == "dirichlet") && draw_.chance(0.4))
      own.erase(draw_.one_of({"size-spread", "size-exponent"}));
    return draw_.element("split", own, 0.6);
  }

  void picture_layer(Element& model) {
    const std::string kind =
        draw_.one_of({"convolution", "convolution", "max-pool", "mean-pool", "batch-norm", "residual"});
    if (kind != "residual") return add(model, kind);
    model.children.push_back(
        residual(Element(draw_.element("convolution",
                                       {{"kernel", "3"}, {"stride", ""}, {"padding", ""}, {"filters", "3"}}, 0.3)),
                 draw_.element("convolution", {{"kernel", "1"}, {"stride", ""}, {"padding", "0"}, {"filters", "3"}})));
  }

  void series_layer(Element& model) {
    const std::string kind =
        draw_.one_of({"gru", "lstm", "attention", "layer-norm", "positions", "dropout", "dense", "residual"});
    const auto each = [&] { return draw_.element("dense", {{"positions", "each"}, {"units", "4"}}, 0.3); };
    if (kind == "dense") return model.children.push_back(each());
    if (kind != "residual") return add(model, kind);
    model.children.push_back(residual(each(), each()));
  }

  Element residual(Element inside, Element beside) {
    Element residual = draw_.element("residual", {}, 0.4);
    residual.children = {std::move(inside), {.name = "shortcut", .origin = {}, .children = {std::move(beside)}}};
    return residual;
  }

  /// Draws a preset that fits the data; false if there is none.
  bool preset(Element& model) {
    std::string name;
    if (series_) name = draw_.one_of({"gru-classifier", "transformer-classifier"});
    if (symbols_) name = "language-model";
    if (pictures_) name = draw_.one_of({"lenet", "resnet-8", "vit"});
    if (name.empty()) return false;
    const spec::Preset* preset = spec::preset_registry().find(name);
    if (preset == nullptr) return false;
    Drawing::set(model, "preset", name);
    for (const spec::ParameterSpec& parameter : preset->parameters) {
      const std::string value = draw_.one_of(Drawing::values_of(parameter));
      // Sets every integer parameter, since defaults can be large.
      if (parameter.type == spec::ParameterSpec::Type::integer || draw_.chance(0.3))
        Drawing::set(model, parameter.name, value);
    }
    return true;
  }

  Element schedule() {
    const std::string kind = draw_.one_of({"constant", "steps", "cosine"});
    std::map<std::string, std::string> own{{"kind", kind}, {"milestones", kind == "steps" ? "1 2" : ""}};
    if (kind != "steps") own["factor"] = "";
    if (kind != "cosine") own["final-factor"] = "";
    return draw_.element("schedule", own, 0.5);
  }

  Drawing& draw_;
  std::int64_t sites_;
  int classes_ = 10;
  bool pictures_ = false, series_ = false, symbols_ = false;
};

}  // namespace dadsim::test
