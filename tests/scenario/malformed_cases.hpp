#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Malformed scenario files and overrides with the expected messages, for tests of the reader and of the whole program.
// This header contains everything that the cases need.

namespace dadsim::test {

struct MalformedCase {
  enum class File { regular, missing, folder, pipe, unreadable };
  std::string name;
  std::string content;  ///< "@PLATFORM@" stands for a platform file with hospital-1 … hospital-5 and hub
  std::vector<std::string> expected;   ///< "@FILE@": the scenario's path, "@FOLDER@": its folder
  bool exact = true;                   ///< true: these are all lines, in order; false: each line occurs somewhere
  std::vector<std::string> overrides;  ///< arguments of --set
  File file = File::regular;
  std::uintmax_t size = 0;  ///< bytes to extend the file to (sparse); 0: not extended
  std::string cluster{};    ///< content of cluster.xml next to the scenario; empty: no file
};

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size())) {
    text.replace(i, from.size(), to);
  }
  return text;
}

/// A small valid scenario; each case edits it.
inline const std::string& fixture() {
  static const std::string kText = R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Fixture" seed="7">
  <platform file="@PLATFORM@"/>
  <workers>
    <worker hosts="hospital-[1-5]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data>
    <digits train="800" test="200"/>
    <split by="dirichlet" alpha="0.3"/>
  </data>
  <model>
    <dense units="32"/>
    <dense units="10"/>
  </model>
  <training batch="16" epochs="2">
    <adam learning-rate="1e-3"/>
    <schedule kind="cosine"/>
  </training>
  <run algorithm="pooled"/>
  <run algorithm="dad"/>
  <run algorithm="rank-dad" cap="8"/>
</scenario>
)";
  return kText;
}

/// Returns the fixture with replacements; each text must occur exactly once.
inline std::string edited(std::initializer_list<std::pair<std::string_view, std::string_view>> edits) {
  std::string text = fixture();
  for (const auto& [from, to] : edits) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
      throw std::logic_error("not once in the scenario: " + std::string(from));
    }
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Returns the fixture with an inline platform. `inside` has one line, so that later lines keep their numbers.
inline std::string with_platform(std::string_view inside) {
  return edited({{R"(<platform file="@PLATFORM@"/>)", "<platform>" + std::string(inside) + "</platform>"}});
}

/// Valid parts of a platform, of which each case changes one.
inline const std::string kSites = R"(<sites name="hospital" count="5" up="10Mbps" down="50Mbps" latency="8ms"/>)";
inline const std::string kFederation = "<federation>" + kSites + "</federation>";
inline const std::string kGpuCluster = R"(<gpu-cluster nodes="2" gpus="4" inside="nvlink-4" nic="ib-ndr"/>)";
inline const std::string kTwoClusters =
    R"(<gpu-cluster name="a" nodes="2" gpus="1" nic="ib-ndr"/><gpu-cluster name="b" nodes="2" gpus="1" nic="ib-ndr"/>)";
inline const std::string kTwoRegions =
    R"(<wan host="ethernet-10g"><region name="left" hosts="2"/><region name="right" hosts="2"/></wan>)";

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// Returns the fixture with another <model> of one line, so that later lines keep their numbers.
inline std::string with_model(std::string_view model) {
  return edited({{R"(  <model>
    <dense units="32"/>
    <dense units="10"/>
  </model>
)",
                  std::string(model) + "\n\n\n\n"}});
}
inline std::string with_layers(std::string_view layers) {
  return with_model("<model>" + std::string(layers) + R"(<dense units="10"/></model>)");
}

class MalformedCases {
 public:
  MalformedCases() {
    language();
    models();
    platforms();
    variation();
    network();
    platform_files();
    notations();
    files();
    overrides();
  }
  std::vector<MalformedCase> take() { return std::move(cases_); }

 private:
  using Lines = std::vector<std::string>;

  MalformedCase& exact(std::string name, std::string content, Lines expected, Lines overrides = {}) {
    cases_.push_back({std::move(name), std::move(content), std::move(expected), true, std::move(overrides),
                      MalformedCase::File::regular, 0});
    return cases_.back();
  }
  MalformedCase& part(std::string name, std::string content, Lines expected, Lines overrides = {}) {
    MalformedCase& added = exact(std::move(name), std::move(content), std::move(expected), std::move(overrides));
    added.exact = false;
    return added;
  }

  void models() {
    exact("parameter without a preset", with_model(R"(<model width="8"><dense units="10"/></model>)"),
          {R"(@FILE@:12: unknown attribute 'width' of <model>; one of name, preset; parameters need a preset="…")"});
    exact("unknown preset", with_model(R"(<model preset="resnet-9"/>)"),
          {R"(@FILE@:12: preset="resnet-9" of <model> is unknown; did you mean 'resnet-8'?)"});
    exact("preset with layers", with_model(R"(<model preset="resnet-8"><dense units="10"/></model>)"),
          {R"(@FILE@:12: layers beside preset="resnet-8"; use either a preset or layers)"});
    exact("parameter of a preset out of range", with_model(R"(<model preset="resnet-8" width="0"/>)"),
          {R"(@FILE@:12: width="0" of <model> is out of range; a whole number from 1 to 65536)"});
    exact("parameter of another preset", with_model(R"(<model preset="resnet-8" patch="4"/>)"),
          {"@FILE@:12: 'resnet-8' has no parameter 'patch'; only vit has it"});
    exact("choice of a preset", with_model(R"(<model preset="lenet" activation="rely"/>)"),
          {R"(@FILE@:12: activation="rely" of <model> is unknown; did you mean 'relu'?)"});
    exact("preset for other data", with_model(R"(<model preset="language-model"/>)"),
          {"@FILE@:12: an embedding reads symbols, not numbers; use data made of symbols (<text>, <grammar>), and the "
           "embedding as the first layer"});
    exact("preset too large", with_model(R"(<model preset="resnet-8" width="1000"/>)"),
          {"@FILE@:12: <model> has 2.98e+08 parameters; use at most 1e+08, since the model is really trained; time a "
           "larger one with <timed-as>"});
    exact("name of a model too long", with_model("<model preset=\"lenet\" name=\"" + repeated("x", 101) + "\"/>"),
          {"@FILE@:12: name=\"" + repeated("x", 60) + "…\" of <model> has 101 bytes; at most 100"});

    exact("kernel larger than the image", with_layers(R"(<convolution filters="2" kernel="31" padding="0"/>)"),
          {"@FILE@:12: a kernel of 31 × 31 does not fit an image of 28 × 28 with padding 0; at most 28"});
    exact("convolution without filters", with_layers("<convolution/>"),
          {"@FILE@:12: <convolution> lacks 'filters'; a whole number from 1 to 1000000"});
    exact("kernel of no pixels", with_layers(R"(<convolution filters="2" kernel="0" stride="101" padding="-1"/>)"),
          {R"(@FILE@:12: kernel="0" of <convolution> is out of range; a whole number from 1 to 100)",
           R"(@FILE@:12: stride="101" of <convolution> is out of range; a whole number from 1 to 100)",
           R"(@FILE@:12: padding="-1" of <convolution> is out of range; a whole number from 0 to 100)"});
    exact("pool larger than the image", with_layers(R"(<max-pool size="14"/><mean-pool size="3"/>)"),
          {"@FILE@:12: pooling over 3 × 3 does not fit an image of 2 × 2; at most 2"});
    exact("more values than fit", with_layers(R"(<convolution filters="1000000"/>)"),
          {"@FILE@:12: the layer gives 784000000 values per sample; at most 100000000"});
    exact("heads that do not divide", with_layers(R"(<dense units="8" positions="each"/><attention heads="3"/>)"),
          {"@FILE@:12: 8 channels cannot be divided among 3 heads; heads that divide 8"});
    exact("embedding of numbers", with_layers(R"(<embedding units="8"/>)"),
          {"@FILE@:12: an embedding reads symbols, not numbers; use data made of symbols (<text>, <grammar>), and the "
           "embedding as the first layer"});
    exact("everything dropped", with_layers(R"(<dropout rate="1"/>)"),
          {R"(@FILE@:12: rate="1" of <dropout> is out of range; a number from 0 to below 1)"});
    exact("epsilon of nothing", with_layers(R"(<layer-norm epsilon="0"/><batch-norm momentum="2"/>)"),
          {R"(@FILE@:12: epsilon="0" of <layer-norm> is out of range; a number above 0, at most 1)",
           R"(@FILE@:12: momentum="2" of <batch-norm> is out of range; a number above 0, at most 1)"});
    exact("unknown position", with_layers(R"(<select position="middle"/>)"),
          {R"(@FILE@:12: position="middle" of <select> is unknown; one of first, last)"});
    exact("unknown positions", with_model(R"(<model><dense units="10" positions="all"/></model>)"),
          {R"(@FILE@:12: positions="all" of <dense> is unknown; one of together, each)"});
    exact("branches of different shapes", with_layers(R"(<residual><dense units="4" positions="each"/></residual>)"),
          {"@FILE@:12: the layers give 28 × 28 × 4 values and the shortcut 28 × 28 × 1; make both equal, e.g. by a "
           "convolution of size 1 with the same stride as shortcut"});
    exact("wrong inside a shortcut", with_layers(R"(<residual><mean/><shortcut><lstm/></shortcut></residual>)"),
          {"@FILE@:12: <lstm> lacks 'units'; a whole number from 1 to 1000000"});
    exact("empty branches", with_layers(R"(<residual><shortcut/></residual>)"),
          {"@FILE@:12: <shortcut> lacks layers; add at least one layer, or remove <shortcut> to add the input itself",
           "@FILE@:12: <residual> lacks layers; add at least one layer in addition to <shortcut>"});
    exact("two shortcuts",
          with_layers("<residual><mean/><shortcut><mean/></shortcut><shortcut><mean/></shortcut></residual>"),
          {"@FILE@:12: a second <shortcut> in <residual>; at most one"});
    exact("shortcut alone", with_layers("<shortcut/>"),
          {"@FILE@:12: unknown element <shortcut> in <model>; one of dense, convolution, max-pool, mean-pool, mean, "
           "select, gru, lstm, attention, layer-norm, batch-norm, embedding, positions, class-token, dropout, "
           "residual"});
    exact("logits at every position", with_model(R"(<model><dense units="10" positions="each"/></model>)"),
          {"@FILE@:12: the model gives logits at 784 positions, but a sample has 1 label; add <mean/>, <select/> or a "
           "<dense> with "
           "positions=\"together\" before the end"});
    exact(
        "values that are no logits", with_model(R"(<model><gru units="7"/><select/></model>)"),
        {R"(@FILE@:12: the model gives 7 logits, but the data have 10 classes; use <dense units="10"/> as the last layer)"});
    exact("layers of layers",
          with_layers(repeated("<residual>", 20) + repeated("<dropout/></residual>", 20) +
                      repeated("<residual><dropout/></residual>", 500)),
          {"@FILE@:12: <model> has 1041 layers; at most 1000"});
    exact("wrong in several layers",
          with_layers(R"(<dense units="8" positions="each" activation="tan"/><attention heads="3"/><gru units="0"/>)"),
          {R"(@FILE@:12: activation="tan" of <dense> is unknown; did you mean 'tanh'?)",
           "@FILE@:12: 8 channels cannot be divided among 3 heads; heads that divide 8",
           R"(@FILE@:12: units="0" of <gru> is out of range; a whole number from 1 to 1000000)"});
  }

  /// Adds the cases of <costs> and <goal>.
  void questions() {
    const auto with = [this](const std::string& element) {
      return edited({{R"(  <run algorithm="pooled"/>)", element + R"(
  <run algorithm="pooled"/>)"}});
    };
    exact("price of nothing", with(R"(<costs><price device="rtx-3090"/></costs>)"),
          {R"(@FILE@:20: <price> lacks 'per-hour' and 'idle-power'; add per-hour="2.95" or idle-power="60", or both)"});
    exact("price of an unknown device", with(R"(<costs><price device="rtx-390" per-hour="1"/></costs>)"),
          {R"(@FILE@:20: device="rtx-390" of <price> is unknown; did you mean 'rtx-3090'?)"});
    exact("two prices of a device",
          with(R"(<costs><price device="rtx-3090" per-hour="1"/><price device="rtx-3090" idle-power="9"/></costs>)"),
          {R"(@FILE@:20: device="rtx-3090" of <price> has a price already; use one <price> per device)"});
    exact("negative price", with(R"(<costs electricity="-1"/>)"),
          {R"(@FILE@:20: electricity="-1" of <costs> is out of range; a number from 0 to 1000000000)"});
    exact("line without a price", with(R"(<costs><line link="hospital-1-up"/></costs>)"),
          {"@FILE@:20: <line> lacks 'per-mbps-month'; a number from 0 to 1000000000"});
    exact("line without links", with(R"(<costs><line per-mbps-month="1"/></costs>)"),
          {"@FILE@:20: <line> lacks 'link'; link names, with * for any characters, or a class of links"});
    exact("egress without a price", with("<costs><egress/></costs>"),
          {"@FILE@:20: <egress> lacks 'per-gb'; a number from 0 to 1000000000"});
    exact("limit without costs", with(R"(<goal cost="3"/>)"),
          {R"(@FILE@:20: cost="3" of <goal> needs costs; add <costs> to the scenario)"});
    exact("goal of an unknown run", with(R"(<goal run="dadd"/>)"),
          {R"(@FILE@:20: run="dadd" of <goal> is not the label of a run; did you mean 'dad'?)"});
    exact(
        "goal without a unit", with(R"(<goal within="60"/>)"),
        {R"(@FILE@:20: within="60" of <goal> is not a number with a known unit; seconds above 0 with their unit, e.g. 30s)"});
    exact("change of nothing", with(R"(<goal><allow path="training.batch"/></goal>)"),
          {R"(@FILE@:20: <allow> lacks 'values'; add values="16 32 64", or from="1" to="1000")"});
    exact("goal with a range that falls", with(R"(<goal><allow path="training.batch" from="8" to="4"/></goal>)"),
          {R"(@FILE@:20: to="4" of <allow> is not above 'from'; put the smaller number first)"});
    exact(
        "change of the goal itself", with(R"(<goal><allow path="goal.within" values="1s"/></goal>)"),
        {R"(@FILE@:20: path="goal.within" of <allow> belongs to <goal> or <sweep>; use another path of the scenario)"});
    exact(
        "change of an attribute that is not there", with(R"(<goal><allow path="training.bach" values="1"/></goal>)"),
        {R"(@FILE@:20: path="training.bach" of <allow>: unknown attribute 'bach' of <training>; did you mean 'batch'?)"});
    exact("change of a run that is not there", with(R"(<goal><allow path="run[dat].bucket" values="1MB"/></goal>)"),
          {R"(@FILE@:20: path="run[dat].bucket" of <allow>: no <run> is called 'dat'; did you mean 'dad'?)"});
    exact("change allowed twice",
          with(R"(<goal><allow path="seed" values="1"/><allow path="seed" values="2"/></goal>)"),
          {R"(@FILE@:20: path="seed" of <allow> is allowed already; use each path once)"});
    exact(
        "profile beside a file",
        edited({{R"(<platform file="@PLATFORM@"/>)",
                 R"(<platform file="@PLATFORM@"><profile link="*" times="0s" factors="1"/></platform>)"}}),
        {R"(@FILE@:3: <profile> cannot be combined with a platform file of SimGrid; set bandwidth_file="…" or latency_file="…" on the link in that file)"});
    exact("change that stops a link",
          edited({{R"(<platform file="@PLATFORM@"/>)",
                   R"(<platform file="@PLATFORM@"><change link="*" bandwidth-factor="0"/></platform>)"}}),
          {R"(@FILE@:3: bandwidth-factor="0" of <change> is out of range; a number above 0, at most 1000000000)"});
    exact("list and range at once", with(R"(<goal><allow path="seed" values="1" from="2"/></goal>)"),
          {R"(@FILE@:20: from="2" of <allow> cannot be combined with values="…"; give a list of values, or a range)"});
    layouts_of_a_goal();
    divided_with_no_other_worker();
  }

  /// Adds the case of a pooled run, which has one worker and cannot divide states among several.
  void divided_with_no_other_worker() {
    const auto states = [](const std::string& run) {
      return "@FILE@:20: run '" + run +
             "' cannot divide states or experts among workers: this needs a run that exchanges only gradient sums; "
             "use <timed-as> without sharding and expert-parallel, or gradient-sharing among peers without <compress>";
    };
    exact(
        "states divided with no other worker",
        edited({{R"(  <run algorithm="pooled"/>)",
                 R"(<timed-as workload="bert-large" batch="8" sharding="parameters" sharding-group="5"/>
  <run algorithm="pooled"/>)"}}),
        {R"(@FILE@:20: run 'pooled' has one worker, but dividing states or experts needs several workers; use <timed-as> without sharding-group and expert-parallel, or another algorithm)",
         states("dad"), states("rank-dad")});
  }

  /// Adds the cases of <allow layout="any">.
  void layouts_of_a_goal() {
    const auto with = [this](const std::string& allow, const std::string& timed_as) {
      return edited(
          {{R"(  <run algorithm="pooled"/>)", timed_as + "<goal>" + allow + "</goal>\n  <run algorithm=\"pooled\"/>"}});
    };
    const std::string network = R"(<timed-as workload="bert-large" batch="8"/>)";
    exact(
        "layouts of a network without layers", with(R"(<allow layout="any"/>)", ""),
        {R"(@FILE@:20: layout="any" of <allow> needs a workload that defines how its layers divide; set <timed-as workload="…"> to one of `dadsim workloads`)"});
    exact("unknown layouts", with(R"(<allow layout="best"/>)", network),
          {R"(@FILE@:20: layout="best" of <allow> is unknown; only any)"});
    exact("layouts beside a path", with(R"(<allow layout="any" path="seed" values="1"/>)", network),
          {R"(@FILE@:20: path="seed" of <allow> cannot be combined with layout="any"; use a separate <allow>)",
           R"(@FILE@:20: values="1" of <allow> cannot be combined with layout="any"; use a separate <allow>)"});
    exact("layouts twice", with(R"(<allow layout="any"/><allow layout="any"/>)", network),
          {R"(@FILE@:20: layout="any" of <allow> is allowed already; keep one <allow layout="any">)"});
    exact("global batch without layouts", with(R"(<allow path="seed" values="1" global-batch="8"/>)", network),
          {R"(@FILE@:20: global-batch="8" of <allow> needs layout="any"; add layout="any", or remove it)"});
    exact(
        "a layout beside all of them",
        with(R"(<allow layout="any"/><allow path="timed-as.tensor" values="1 2"/>)", network),
        {R"(@FILE@:20: path="timed-as.tensor" of <allow> is searched by layout="any" already; remove one of the two)"});
  }

  void language() {
    exact("unknown element", edited({{"<model>\n", "<modell/>\n  <model>\n"}}),
          {"@FILE@:12: unknown element <modell> in <scenario>; did you mean 'model'?"});
    exact("unknown element without a near name", edited({{"<model>\n", "<zebra/>\n  <model>\n"}}),
          {"@FILE@:12: unknown element <zebra> in <scenario>; one of description, platform, network, framework, "
           "failures, availability, device, workers, "
           "data, model, training, timed-as, timing-only, run, evaluation, costs, goal, sweep, scale-study, ladder"});
    exact("element in the wrong place",
          edited({{R"(    <dense units="32"/>
)",
                   R"(    <dense units="32"><adam/></dense>
)"}}),
          {"@FILE@:13: unknown element <adam> in <dense>; <dense> holds no elements"});
    exact("unknown attribute", edited({{R"(batch="16")", R"(batsh="16")"}}),
          {"@FILE@:16: unknown attribute 'batsh' of <training>; did you mean 'batch'?"});
    exact("attribute of an element that has none", edited({{R"(<dense units="32"/>)", R"(<mean units="32"/>)"}}),
          {"@FILE@:13: unknown attribute 'units' of <mean>; <mean> has no attributes"});
    exact("attribute on its own line", edited({{R"(<training batch="16" epochs="2">)", R"(<training batch="16"
            epochs="2"
            stop="never">)"}}),
          {R"(@FILE@:18: stop="never" of <training> is unknown; one of budget, target)"});
    exact("missing name", edited({{R"( name="Fixture")", ""}}),
          {"@FILE@:2: <scenario> lacks 'name'; a title for the scenario"});
    exact("blank name", edited({{R"(name="Fixture")", R"(name=" ")"}}),
          {R"(@FILE@:2: name=" " of <scenario> is empty; a title for the scenario)"});
    exact("missing platform",
          edited({{R"(  <platform file="@PLATFORM@"/>
)",
                   ""}}),
          {R"(@FILE@:2: <scenario> lacks <platform>; the cluster, e.g. <platform file="cluster.xml"/>)"});
    exact(
        "missing workers",
        edited({{R"(  <workers>
    <worker hosts="hospital-[1-5]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
)",
                 ""}}),
        {R"(@FILE@:2: <scenario> lacks <workers>; add the participants: <workers> with <worker hosts="…" device="…"/>)"});
    exact("missing model and runs",
          edited({{R"(  <model>
    <dense units="32"/>
    <dense units="10"/>
  </model>
)",
                   ""},
                  {R"(  <run algorithm="pooled"/>
  <run algorithm="dad"/>
  <run algorithm="rank-dad" cap="8"/>
)",
                   ""}}),
          {R"(@FILE@:2: <scenario> lacks <model>; add the network that learns: <model> with <dense units="…"/>)",
           R"(@FILE@:2: <scenario> lacks <run>; add at least one, e.g. <run algorithm="gradient-sharing"/>)"});
    exact("missing data",
          edited({{R"(  <data>
    <digits train="800" test="200"/>
    <split by="dirichlet" alpha="0.3"/>
  </data>
)",
                   ""}}),
          {"@FILE@:2: <scenario> lacks <data>; add training data: <data> with <digits/> or <idx …/>"});
    exact("data without a source",
          edited({{R"(    <digits train="800" test="200"/>
)",
                   ""}}),
          {"@FILE@:8: <data> lacks a source; one of <digits>, <idx>, <cifar10>, <ts>, <csv>, <text>, <shapes>, "
           "<utterances>, "
           "<grammar>, <tabular>"});
    part("two sources", edited({{"    <split", R"(    <idx images="a" labels="b" train="1" test="1"/>
    <split)"}}),
         {"@FILE@:10: <digits> and <idx> in <data>; keep one source", R"(@FILE@:10: images="a" of <idx> is )",
          R"(@FILE@:10: labels="b" of <idx> is )"});
    exact("second training", edited({{R"(  <run algorithm="pooled"/>)", R"(  <training/>
  <run algorithm="pooled"/>)"}}),
          {"@FILE@:20: a second <training> in <scenario>; at most one"});
    exact("two optimizers", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<adam learning-rate="1e-3"/>
    <sgd/>)"}}),
          {"@FILE@:18: <sgd> beside <adam>; keep at most one optimizer"});
    exact("same optimizer twice", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<adam learning-rate="1e-3"/>
    <adam/>)"}}),
          {"@FILE@:18: a second <adam> in <training>; at most one"});
    exact("text among elements", edited({{"<model>", "<model>\n    256 then 10"}}),
          {"@FILE@:13: text '256 then 10' in <model>; use elements only"});
    exact("text in an element of attributes",
          edited({{R"(<digits train="800" test="200"/>)", R"(<digits train="800" test="200">many</digits>)"}}),
          {"@FILE@:9: text 'many' in <digits>; <digits> holds attributes alone"});
    exact("CDATA among elements", edited({{"<model>", "<model><![CDATA[<dense/>]]>"}}),
          {"@FILE@:12: text '<dense/>' in <model>; use elements only"});
    exact("namespace", edited({{"<scenario name", R"(<scenario xmlns="urn:x" name)"}}),
          {"@FILE@:2: <scenario> is in a namespace; remove xmlns: the language has no namespace"});
    exact("prefixed element",
          edited(
              {{"<scenario name", R"(<scenario xmlns:x="urn:x" name)"}, {"<model>\n", R"(<x:include href="/etc/passwd"/>
  <model>
)"}}),
          {"@FILE@:2: 'xmlns:x' on <scenario>; remove it: the language has no namespace",
           "@FILE@:12: <x:include> is in a namespace; remove it: the language has no namespace"});
    exact("prefixed attribute", edited({{"<model>", R"(<model xml:space="preserve">)"}}),
          {"@FILE@:12: 'xml:space' on <model>; remove it: the language has no namespace"});
    exact("description with an element", edited({{"  <platform", "  <description><b/></description>\n  <platform"}}),
          {"@FILE@:3: unknown element <b> in <description>; <description> holds no elements"});
    exact("seed with a fraction", edited({{R"(seed="7")", R"(seed="7.5")"}}),
          {R"(@FILE@:2: seed="7.5" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)"});
    exact("negative seed", edited({{R"(seed="7")", R"(seed="-1")"}}),
          {R"(@FILE@:2: seed="-1" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)"});
    exact(
        "seed beyond 64 bits", edited({{R"(seed="7")", R"(seed="18446744073709551616")"}}),
        {R"(@FILE@:2: seed="18446744073709551616" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)"});
    exact("batch as a word", edited({{R"(batch="16")", R"(batch="many")"}}),
          {R"(@FILE@:16: batch="many" of <training> is not a whole number; a whole number from 1 to 1000000)"});
    exact("batch zero", edited({{R"(batch="16")", R"(batch="0")"}}),
          {R"(@FILE@:16: batch="0" of <training> is out of range; a whole number from 1 to 1000000)"});
    exact("batch with a fraction", edited({{R"(batch="16")", R"(batch="16.5")"}}),
          {R"(@FILE@:16: batch="16.5" of <training> is not a whole number; a whole number from 1 to 1000000)"});
    exact("batch in scientific notation", edited({{R"(batch="16")", R"(batch="1e2")"}}),
          {R"(@FILE@:16: batch="1e2" of <training> is not a whole number; write 100)"});
    exact("batch with a space", edited({{R"(batch="16")", R"(batch=" 16")"}}),
          {R"(@FILE@:16: batch=" 16" of <training> is not a whole number; write 16)"});
    exact(
        "batch that overflows", edited({{R"(batch="16")", R"(batch="99999999999999999999999")"}}),
        {R"(@FILE@:16: batch="99999999999999999999999" of <training> is out of range; a whole number from 1 to 1000000)"});
    exact("batch larger than the data", edited({{R"(batch="16")", R"(batch="200")"}}),
          {R"(@FILE@:16: batch="200" of <training> for 5 workers is more than the 800 training samples; at most 160)"});
    exact("epochs zero", edited({{R"(epochs="2")", R"(epochs="0")"}}),
          {R"(@FILE@:16: epochs="0" of <training> is out of range; a number above 0, at most 1000000)"});
    exact("epochs not a number", edited({{R"(epochs="2")", R"(epochs="nan")"}}),
          {R"(@FILE@:16: epochs="nan" of <training> is not a number; a number above 0, at most 1000000)"});
    exact("epochs infinite", edited({{R"(epochs="2")", R"(epochs="inf")"}}),
          {R"(@FILE@:16: epochs="inf" of <training> is not a number; a number above 0, at most 1000000)"});
    exact("learning rate that overflows", edited({{R"(learning-rate="1e-3")", R"(learning-rate="1e999")"}}),
          {R"(@FILE@:17: learning-rate="1e999" of <adam> is out of range; a number above 0, at most 1000000)"});
    exact("learning rate negative", edited({{R"(learning-rate="1e-3")", R"(learning-rate="-0.1")"}}),
          {R"(@FILE@:17: learning-rate="-0.1" of <adam> is out of range; a number above 0, at most 1000000)"});
    exact("learning rate with a unit", edited({{R"(learning-rate="1e-3")", R"(learning-rate="1e-3s")"}}),
          {R"(@FILE@:17: learning-rate="1e-3s" of <adam> is not a number; a number above 0, at most 1000000)"});
    exact("hexadecimal units", edited({{R"(units="32")", R"(units="0x20")"}}),
          {R"(@FILE@:13: units="0x20" of <dense> is not a whole number; a whole number from 1 to 1000000)"});
    exact("too many units", edited({{R"(units="32")", R"(units="1000001")"}}),
          {R"(@FILE@:13: units="1000001" of <dense> is out of range; a whole number from 1 to 1000000)"});
    exact("too many parameters", edited({{R"(units="32")", R"(units="200000")"}}),
          {"@FILE@:12: <model> has 1.59e+08 parameters; use at most 1e+08, since the model is really trained; time a "
           "larger one with <timed-as>"});
    exact("target in per cent", edited({{R"(epochs="2")", R"(epochs="2" target-accuracy="95%")"}}),
          {R"(@FILE@:16: target-accuracy="95%" of <training> is not a number; a number above 0, at most 1)"});
    exact(
        "a target twice", edited({{R"(epochs="2")", R"(epochs="2" target-accuracy="0.9 0.95 0.9")"}}),
        {R"(@FILE@:16: target-accuracy="0.9 0.95 0.9" of <training> holds '0.9'; numbers above 0, at most 1, each once, with spaces between them)"}),
        exact("target above one", edited({{R"(epochs="2")", R"(epochs="2" target-accuracy="95")"}}),
              {R"(@FILE@:16: target-accuracy="95" of <training> is out of range; a number above 0, at most 1)"});
    exact("beta of one", edited({{R"(learning-rate="1e-3")", R"(beta2="1")"}}),
          {R"(@FILE@:17: beta2="1" of <adam> is out of range; a number from 0 to below 1)"});
    exact(
        "evaluation interval", edited({{R"(epochs="2")", R"(epochs="2" evaluate-every="epochs")"}}),
        {R"(@FILE@:16: evaluate-every="epochs" of <training> is unknown; epoch, or a number of steps from 1 to 1000000000)"});
    exact("bias as a number", edited({{R"(units="32")", R"(units="32" bias="1")"}}),
          {R"(@FILE@:13: bias="1" of <dense> is unknown; one of false, true)"});
    exact("missing units", edited({{R"(<dense units="32"/>)", "<dense/>"}}),
          {"@FILE@:13: <dense> lacks 'units'; a whole number from 1 to 1000000"});
    exact("more digits than can be drawn", edited({{R"(train="800")", R"(train="199900")"}}),
          {"@FILE@:9: <digits> asks for 200100 samples; use at most 200000 for 'train' and 'test' together"});
    exact("no test samples", edited({{R"(test="200")", R"(test="0")"}}),
          {R"(@FILE@:9: test="0" of <digits> is out of range; a whole number from 1 to 200000)"});
    exact("fewer samples than workers", edited({{R"(train="800")", R"(train="4")"}}),
          {"@FILE@:8: 4 training samples for 5 workers; use at least one for each worker"});
    exact("parameter of another split", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="class" alpha="0.3")"}}),
          {R"(@FILE@:10: alpha="0.3" of <split> has no effect with by="class"; set by="dirichlet", or remove it)"});
    exact("unknown split", edited({{R"(by="dirichlet")", R"(by="dirichelt")"}}),
          {R"(@FILE@:10: by="dirichelt" of <split> is unknown; did you mean 'dirichlet'?)"});
    exact("alpha zero", edited({{R"(alpha="0.3")", R"(alpha="0")"}}),
          {R"(@FILE@:10: alpha="0" of <split> is out of range; a number from 0.001 to 1000000)"});
    exact("too many shards", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="shards" shards="161")"}}),
          {"@FILE@:10: 161 shards for each of 5 workers are more than 800 training samples; use fewer shards"});
    exact("sizes missing", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes")"}}),
          {"@FILE@:10: <split> lacks 'sizes'; whole numbers from 1 to 1000000000 with spaces between them"});
    exact("sizes for too few workers", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="100 200")"}}),
          {R"(@FILE@:10: sizes="100 200" of <split> holds 2 numbers; give one size for each of the 5 workers)"});
    exact(
        "sizes beyond the data",
        edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="400 100 100 100 101")"}}),
        {R"(@FILE@:10: sizes="400 100 100 100 101" of <split> adds up to 801; use at most the 800 training samples)"});
    exact(
        "sizes with a word", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="100 100 many 100 100")"}}),
        {R"(@FILE@:10: sizes="100 100 many 100 100" of <split> holds 'many'; whole numbers from 1 to 1000000000 with spaces between them)"});
    part("misspelt source", edited({{R"(<digits train="800" test="200"/>)", R"(<shape train="800"/>)"}}),
         {R"(@FILE@:8: <data> lacks a source; one of )",
          R"(@FILE@:9: unknown element <shape> in <data>; did you mean 'shapes'?)"});
    part("misspelt attribute of a source",
         edited({{R"(<digits train="800" test="200"/>)",
                  R"(<tabular features="20" classes="10" nose="0.1" train="800"/>)"}}),
         {R"(@FILE@:9: unknown attribute 'nose' of <tabular>; did you mean 'noise'?)"});
    exact("two drawn sources",
          edited({{R"(<digits train="800" test="200"/>)",
                   R"(<shapes train="800" test="200"/><tabular classes="10" train="800" test="200"/>)"}}),
          {R"(@FILE@:9: <shapes> and <tabular> in <data>; keep one source)"});
    exact("noise of one",
          edited({{R"(<digits train="800" test="200"/>)", R"(<tabular noise="1" classes="10" train="800"/>)"}}),
          {R"(@FILE@:9: noise="1" of <tabular> is out of range; a number from 0 to below 1)"});
    part("one class alone", edited({{R"(<digits train="800" test="200"/>)", R"(<tabular classes="1" train="800"/>)"}}),
         {R"(@FILE@:9: classes="1" of <tabular> is out of range; a whole number from 2 to 1000)"});
    exact("utterances too short", edited({{R"(<digits train="800" test="200"/>)", R"(<utterances length="7"/>)"}}),
          {R"(@FILE@:9: length="7" of <utterances> is out of range; a whole number from 8 to 2000)"});
    exact(
        "drawn samples that take too much memory",
        edited({{R"(<digits train="800" test="200"/>)", R"(<shapes train="80000" test="10000"/>)"}}),
        {R"(@FILE@:9: <shapes> asks for 90000 samples of 3072 values; use at most 268435456 values (samples × values per sample), which are 1 GiB)"});
    exact("CIFAR-10 without files",
          edited({{R"(<digits train="800" test="200"/>)", R"(<cifar10 train="800" test="1"/>)"}}),
          {R"(@FILE@:9: <cifar10> lacks 'files'; paths of CIFAR-10 binary files, separated by commas)"});
    part("CIFAR-10 with a missing name",
         edited({{R"(<digits train="800" test="200"/>)",
                  R"(<cifar10 files="@PLATFORM@,,@PLATFORM@" train="1" test="1"/>)"}}),
         {R"(of <cifar10> has an empty name between commas; paths of CIFAR-10 binary files)"});
    exact(
        "CIFAR-10 with a missing file",
        edited({{R"(<digits train="800" test="200"/>)", R"(<cifar10 files="/no/a, /no/b" train="800" test="1"/>)"}}),
        {R"(@FILE@:9: files="/no/a, /no/b" of <cifar10> does not exist; paths of CIFAR-10 binary files, separated by commas)",
         R"(@FILE@:9: files="/no/a, /no/b" of <cifar10> does not exist; paths of CIFAR-10 binary files, separated by commas)"});
    exact("series without a test file",
          edited({{R"(<digits train="800" test="200"/>)", R"(<ts train-file="/no/a.ts"/>)"}}),
          {R"(@FILE@:9: train-file="/no/a.ts" of <ts> does not exist; the path of a .ts file)",
           R"(@FILE@:9: <ts> lacks 'test-file'; the path of a .ts file)"});
    exact(
        "table without a target",
        edited({{R"(<digits train="800" test="200"/>)", R"(<csv file="/no/a.csv" target=" "/>)"}}),
        {R"(@FILE@:9: file="/no/a.csv" of <csv> does not exist; the path of a CSV file)",
         R"(@FILE@:9: target=" " of <csv> is empty; the name of the column with the class, its number from 1, or last)"});
    const auto csv = [&](const char* name, const char* attributes, std::vector<std::string> errors) {
      part(name, edited({{R"(<digits train="800" test="200"/>)", std::string("<csv ") + attributes + "/>"}}),
           std::move(errors));
    };
    csv("one table and many", R"(file="/no/a" files="/no/b" target="t")",
        {R"(@FILE@:9: file="/no/a" of <csv> cannot be combined with 'files'; use 'file' for one table, or 'files' for one table per site)"});
    csv("sites by column and by file", R"(files="/no/b" target="t" site="s")",
        {R"(@FILE@:9: site="s" of <csv> cannot be combined with 'files'; remove one of the two: each file is a site)"});
    csv("no name between commas", R"(file="/no/a" target="t" ignore="a,,b")",
        {R"(@FILE@:9: ignore="a,,b" of <csv> has an empty name between commas; names of columns, separated by commas)"});
    csv("site that is the target", R"(file="/no/a" target="t" site="t")",
        {R"(@FILE@:9: site="t" of <csv> names the target 't'; other columns)"});
    csv("target that is ignored", R"(file="/no/a" target="t" ignore="a, t")",
        {R"(@FILE@:9: ignore="a, t" of <csv> names the target 't'; other columns)"});
    csv("site that is ignored", R"(file="/no/a" target="t" site="s" ignore="s")",
        {R"(@FILE@:9: ignore="s" of <csv> contains 's', the column of sites; remove it: the column of sites is not a feature)"});
    part("split by sites that nobody says",
         edited({{R"(<split by="dirichlet" alpha="0.3"/>)", R"(<split by="site"/>)"}}),
         {R"(by="site" of <split> needs samples that name their site; use <csv> with site="…" or files="…")"});
    part("table with two ways of holding back",
         edited({{R"(<digits train="800" test="200"/>)",
                  R"(<csv file="/no/a" target="t" test-file="/no/b" test-share="0.1"/>)"}}),
         {R"(@FILE@:9: test-share="0.1" of <csv> cannot be combined with 'test-file'; remove one of the two)"});
    part("test share of one",
         edited({{R"(<digits train="800" test="200"/>)", R"(<csv file="/no/a" target="t" test-share="1"/>)"}}),
         {R"(@FILE@:9: test-share="1" of <csv> is out of range; a number above 0 to below 1)"});
    part(
        "split by class of symbols",
        edited({{R"(<digits train="800" test="200"/>)", R"(<grammar train="800" test="200"/>)"}}),
        {R"(@FILE@:10: by="dirichlet" of <split> needs samples of one class, but each sample has 64 labels; use by="iid" or by="sizes")"});
    part("shift of symbols",
         edited({{R"(<digits train="800" test="200"/>)", R"(<grammar train="800" test="200"/><shift noise="1"/>)"}}),
         {R"(@FILE@:9: <shift> needs numeric data, but the data are symbols; use numeric data, or remove <shift>)"});
    exact("negative shift",
          edited({{R"(<digits train="800" test="200"/>)", R"(<digits train="800" test="200"/><shift gain="-0.1"/>)"}}),
          {R"(@FILE@:9: gain="-0.1" of <shift> is out of range; a number from 0 to 3)"});
    part(
        "IDX files missing",
        edited({{R"(<digits train="800" test="200"/>)",
                 R"(<idx images="no-such-images" labels="no-such/train-labels-idx1-ubyte" train="800" test="200"/>)"}}),
        {R"(@FILE@:9: images="no-such-images" of <idx> is )",
         R"(@FILE@:9: labels="no-such/train-labels-idx1-ubyte" of <idx> is )", "DADSIM_DATA",
         "download it from http://yann.lecun.com/exdb/mnist/"});
    part("IDX without counts",
         edited({{R"(<digits train="800" test="200"/>)", R"(<idx images="@PLATFORM@" labels=""/>)"}}),
         {R"(@FILE@:9: labels="" of <idx> is empty; the path of an IDX file)",
          "@FILE@:9: <idx> lacks 'train'; a whole number from 1 to 1000000000",
          "@FILE@:9: <idx> lacks 'test'; a whole number from 1 to 1000000000"});
    exact(
        "IDX with half a test set",
        edited({{R"(<digits train="800" test="200"/>)",
                 R"(<idx images="/no/a" labels="/no/b" test-images="/no/t10k-images-idx3-ubyte.gz"/>)"}}),
        {R"(@FILE@:9: images="/no/a" of <idx> does not exist; the path of an IDX file)",
         R"(@FILE@:9: labels="/no/b" of <idx> does not exist; the path of an IDX file)",
         R"(@FILE@:9: test-images="/no/t10k-images-idx3-ubyte.gz" of <idx> does not exist; download it from http://yann.lecun.com/exdb/mnist/)",
         "@FILE@:9: <idx> lacks 'test-labels'; the path of an IDX file"});
    exact(
        "empty model",
        edited({{R"(    <dense units="32"/>
    <dense units="10"/>
)",
                 ""}}),
        {R"(@FILE@:12: <model> lacks layers; add at least one layer, the last a <dense> with one unit per class; or set preset="…")"});
    exact(
        "last layer does not fit the classes", edited({{R"(units="10")", R"(units="12")"}}),
        {R"(@FILE@:14: units="12" of <dense> needs one unit per class in the last layer; set units="10", one unit per class)"});
    exact("unknown activation", edited({{R"(units="32")", R"(units="32" activation="rellu")"}}),
          {R"(@FILE@:13: activation="rellu" of <dense> is unknown; did you mean 'relu'?)"});
    exact(
        "schedule attribute of another kind", edited({{R"(kind="cosine")", R"(kind="cosine" milestones="1")"}}),
        {R"(@FILE@:18: milestones="1" of <schedule> has no effect with kind="cosine"; set kind="steps", or remove it)"});
    exact("steps without milestones", edited({{R"(kind="cosine")", R"(kind="steps")"}}),
          {"@FILE@:18: <schedule> lacks 'milestones'; whole numbers from 1 to 1000000 with spaces between them"});
    exact("milestones that fall", edited({{R"(kind="cosine")", R"(kind="steps" milestones="5 3")"}}),
          {R"(@FILE@:18: milestones="5 3" of <schedule> does not increase; epochs in rising order, each once)"});
    exact("unknown schedule", edited({{R"(kind="cosine")", R"(kind="cosin")"}}),
          {R"(@FILE@:18: kind="cosin" of <schedule> is unknown; did you mean 'cosine'?)"});
    exact("nesterov without momentum", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<sgd nesterov="true"/>)"}}),
          {R"(@FILE@:17: nesterov="true" of <sgd> needs momentum; set a momentum above 0, e.g. momentum="0.9")"});
    exact("momentum of Adam", edited({{R"(learning-rate="1e-3")", R"(momentum="0.9")"}}),
          {"@FILE@:17: unknown attribute 'momentum' of <adam>; one of learning-rate, beta1, beta2, epsilon, "
           "weight-decay"});
    exact(
        "platform missing", edited({{"@PLATFORM@", "no-such-platform.xml"}}),
        {R"(@FILE@:3: file="no-such-platform.xml" of <platform> does not exist; looked for '@FOLDER@/no-such-platform.xml'; the path is relative to the scenario)"});
    exact("platform a folder", edited({{"@PLATFORM@", "/"}}),
          {R"(@FILE@:3: file="/" of <platform> is not a file that can be read; the path of a platform file)"});
    exact("unknown device", edited({{"rtx-3090", "rtx-3900"}}),
          {R"(@FILE@:5: device="rtx-3900" of <worker> is unknown; did you mean 'rtx-3090'?)"});
    exact("missing device", edited({{R"( device="rtx-3090")", ""}}),
          {"@FILE@:5: <worker> lacks 'device'; the name of a device; `dadsim devices` lists them"});
    part("host that the platform lacks", edited({{"hospital-[1-5]", "hospital-[1-4] hospital-77"}}),
         {"@FILE@:5: ", "hospital-77"});
    part("aggregator that the platform lacks", edited({{R"(host="hub")", R"(host="hubb")"}}), {"@FILE@:6: ", "hubb"});
    exact(
        "range that falls", edited({{"hospital-[1-5]", "hospital-[5-1]"}}),
        {R"(@FILE@:5: hosts="hospital-[5-1]" of <worker> holds 'hospital-[5-1]' with a range that ends before it begins; put the smaller number first)"});
    exact(
        "range without an end", edited({{"hospital-[1-5]", "hospital-[1-"}}),
        {R"(@FILE@:5: hosts="hospital-[1-" of <worker> holds 'hospital-[1-' with misplaced brackets; a name with at most one range of numbers, e.g. gpu-[0-15]; write \[ for a bracket in a name)"});
    exact(
        "range of words", edited({{"hospital-[1-5]", "hospital-[a-e]"}}),
        {R"(@FILE@:5: hosts="hospital-[a-e]" of <worker> holds 'hospital-[a-e]' with a range that is not two numbers; a name with at most one range of numbers, e.g. gpu-[0-15]; write \[ for a bracket in a name)"});
    exact(
        "range with two parts", edited({{"hospital-[1-5]", "hospital-[1-2]-[3-4]"}}),
        {R"(@FILE@:5: hosts="hospital-[1-2]-[3-4]" of <worker> holds 'hospital-[1-2]-[3-4]' with misplaced brackets; a name with at most one range of numbers, e.g. gpu-[0-15]; write \[ for a bracket in a name)"});
    exact(
        "range that is too long", edited({{"hospital-[1-5]", "hospital-[1-1000000000000]"}}),
        {R"(@FILE@:5: hosts="hospital-[1-1000000000000]" of <worker> names too many hosts; use at most 100000 workers in all)"});
    exact("no hosts", edited({{"hospital-[1-5]", ""}}),
          {R"(@FILE@:5: hosts="" of <worker> is empty; names of hosts in the platform, e.g. gpu-[0-15])"});
    exact(
        "workers without a worker",
        edited({{R"(    <worker hosts="hospital-[1-5]" device="rtx-3090"/>
)",
                 ""}}),
        {R"(@FILE@:4: <workers> lacks <worker>; add at least one, e.g. <worker hosts="gpu-[0-15]" device="a100-sxm4-80"/>)"});
    exact("two aggregators", edited({{"</workers>", R"(  <aggregator host="hub" device="xeon-8380"/>
  </workers>)"}}),
          {"@FILE@:7: a second <aggregator> in <workers>; at most one"});
    exact(
        "aggregator on several hosts", edited({{R"(host="hub")", R"(host="hub hospital-1")"}}),
        {R"(@FILE@:6: host="hub hospital-1" of <aggregator> is more than one name; use one host; quote a name with spaces, as 'Edge 1')"});
    exact(
        "device with a wrong unit",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10GBps" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: peak-flops="10GBps" of <device> is not a number with a known unit; flop/s above 0 with their unit, e.g. 10TF)"});
    exact(
        "device without a unit",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: memory-bandwidth="300" of <device> is not a number with a known unit; bytes per second above 0 with their unit, e.g. 300GBps)"});
    part(
        "device with negative overhead",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="-10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: launch-overhead="-10us" of <device> )", "; seconds with their unit, not below 0, e.g. 10us"});
    exact(
        "device with no speed",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="0f" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: peak-flops="0f" of <device> is out of range; flop/s above 0 with their unit, e.g. 10TF)"});
    exact(
        "device with an infinite speed",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="infTF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: peak-flops="infTF" of <device> is not a number with a known unit; flop/s above 0 with their unit, e.g. 10TF)"});
    exact(
        "device with an efficiency of zero",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: matrix-efficiency="0" of <device> is out of range; a number above 0, at most 1)"});
    exact(
        "device with an efficiency above one",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="70" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: memory-efficiency="70" of <device> is out of range; a number above 0, at most 1)"});
    exact(
        "device of the catalogue again",
        edited(
            {{"  <workers>\n",
              R"(  <device name="rtx-3090" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: name="rtx-3090" of <device> is the name of a device of the catalogue; use another name)"});
    exact("device without anything", edited({{"  <workers>\n", R"(  <device name="mine"/>
  <workers>
)"}}),
          {"@FILE@:4: <device> lacks 'peak-flops'; flop/s above 0 with their unit, e.g. 10TF",
           "@FILE@:4: <device> lacks 'memory-bandwidth'; bytes per second above 0 with their unit, e.g. 300GBps",
           "@FILE@:4: <device> lacks 'matrix-efficiency'; a number above 0, at most 1",
           "@FILE@:4: <device> lacks 'memory-efficiency'; a number above 0, at most 1",
           "@FILE@:4: <device> lacks 'launch-overhead'; seconds with their unit, not below 0, e.g. 10us"});
    exact(
        "two devices of a name",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:5: name="mine" of <device> is the name of another <device>; use another name)"});
    // ---- compression ----
    const auto compressed = [](const std::string& run, const std::string& compress) {
      return edited({{R"(  <run algorithm="dad"/>)", "  <run " + run + ">" + compress + "</run>"}});
    };
    exact("unknown compressor", compressed(R"(algorithm="dad")", R"(<compress method="fp61"/>)"),
          {R"(@FILE@:21: method="fp61" of <compress> is unknown; did you mean 'fp16'?)"});
    exact(
        "compressor without a method", compressed(R"(algorithm="dad")", "<compress/>"),
        {R"(@FILE@:21: <compress> lacks 'method'; one of none, fp16, bf16, int8, e3m0, top-k, random-k, random-block, sidco, redsync, gaussian-k, dgc, qsgd, terngrad, natural, sign)"});
    exact(
        "a memory where nothing is lost",
        compressed(R"(algorithm="dad")", R"(<compress method="none" memory="true"/>)"),
        {R"(@FILE@:21: memory="true" of <compress> has no effect with 'none'; remove it: the method is lossless here)"});
    exact("compressing what is not sent", compressed(R"(algorithm="pooled")", R"(<compress method="fp16"/>)"),
          {R"(@FILE@:21: <compress> has no effect with 'pooled'; remove it: nothing is exchanged)"});
    exact("a parameter of another compressor",
          compressed(R"(algorithm="dad")", R"(<compress method="fp16" rounding="nearest"/>)"),
          {R"(@FILE@:21: 'fp16' has no parameter 'rounding'; only int8, e3m0 have it)"});
    exact(
        "an exchange of neighbours", edited({{R"(algorithm="dad")", R"(algorithm="d-psgd" exchange="peer")"}}),
        {R"(@FILE@:21: exchange="peer" of <run> has no effect with 'd-psgd'; remove it: sites of this algorithm exchange with their neighbours in a graph)"});

    exact("unknown algorithm", edited({{R"(algorithm="dad")", R"(algorithm="daad")"}}),
          {R"(@FILE@:21: algorithm="daad" of <run> is unknown; did you mean 'dad'?)"});
    exact("missing algorithm", edited({{R"( algorithm="dad")", ""}}),
          {"@FILE@:21: <run> lacks 'algorithm'; one of 40, such as pooled, no-sharing, gradient-sharing"});
    exact("parameter that the algorithm lacks", edited({{R"(algorithm="dad")", R"(algorithm="dad" cap="4")"}}),
          {"@FILE@:21: 'dad' has no parameter 'cap'; only rank-dad, flexible, cogd, partial-rank-dad have it"});
    exact("parameter with a typing error", edited({{R"(cap="8")", R"(capp="8")"}}),
          {"@FILE@:22: 'rank-dad' has no parameter 'capp'; did you mean 'cap'?"});
    exact("cap out of range", edited({{R"(cap="8")", R"(cap="0")"}}),
          {R"(@FILE@:22: cap="0" of <run> is out of range; a whole number from 1 to 65536)"});
    exact("cap with a fraction", edited({{R"(cap="8")", R"(cap="8.5")"}}),
          {R"(@FILE@:22: cap="8.5" of <run> is not a whole number; a whole number from 1 to 65536)"});
    exact("tolerance out of range", edited({{R"(cap="8")", R"(tolerance="1.5")"}}),
          {R"(@FILE@:22: tolerance="1.5" of <run> is out of range; a number from 0 to 1)"});
    exact("unknown mode", edited({{R"(cap="8")", R"(mode="two-ways")"}}),
          {R"(@FILE@:22: mode="two-ways" of <run> is unknown; did you mean 'two-way'?)"});
    exact(
        "exchange without an aggregator",
        edited({{R"(    <aggregator host="hub" device="xeon-8380"/>
)",
                 ""},
                {R"(algorithm="dad")", R"(algorithm="dad" exchange="aggregator")"}}),
        {R"(@FILE@:20: exchange="aggregator" of <run> needs an aggregator; add an <aggregator> to <workers>, or set exchange="peer")"});
    exact("exchange of an algorithm without any",
          edited({{R"(algorithm="pooled")", R"(algorithm="pooled" exchange="peer")"}}),
          {R"(@FILE@:20: exchange="peer" of <run> has no effect with 'pooled'; remove it: nothing is exchanged)"});
    exact("unknown exchange", edited({{R"(algorithm="dad")", R"(algorithm="dad" exchange="pear")"}}),
          {R"(@FILE@:21: exchange="pear" of <run> is unknown; did you mean 'peer'?)"});
    exact("two runs of a label",
          edited({{R"(algorithm="pooled")", R"(algorithm="pooled" label="a")"},
                  {R"(algorithm="dad")", R"(algorithm="dad" label="a")"}}),
          {R"(@FILE@:21: label="a" of <run> is the label of another run; labels are unique)"});
    exact("unknown workload", edited({{R"(  <run algorithm="pooled"/>)", R"(  <timed-as workload="resnet50"/>
  <run algorithm="pooled"/>)"}}),
          {R"(@FILE@:20: workload="resnet50" of <timed-as> is unknown; did you mean 'resnet-50'?)"});
    const auto timed = [&](const std::string& attributes) {
      return edited(
          {{R"(  <run algorithm="pooled"/>)", "  <timed-as " + attributes + "/>\n  <run algorithm=\"pooled\"/>"}});
    };
    exact(
        "size of another workload", timed(R"(workload="resnet-50" layers="3")"),
        {R"(@FILE@:20: layers="3" of <timed-as> is unknown to 'resnet-50'; bert, decoder, deepseek-v2, deepseek-v3, gpt, llama, mpt, vit have it)"});
    exact(
        "size of no workload", timed(R"(layers="3")"),
        {R"(@FILE@:20: layers="3" of <timed-as> needs a workload; bert, decoder, deepseek-v2, deepseek-v3, gpt, llama, mpt, vit have it)"});
    exact("size out of range", timed(R"(workload="bert" layers="0")"),
          {R"(@FILE@:20: layers="0" of <timed-as> is out of range; a whole number from 1 to 10000)"});
    exact("sizes that do not go together", timed(R"(workload="gpt" hidden="100" heads="7")"),
          {R"(@FILE@:20: 'gpt': heads 7 does not divide hidden 100; use sizes that divide one another)"});
    exact(
        "micro-batch that does not divide", timed(R"(workload="gpt" batch="6" micro-batch="4")"),
        {R"(@FILE@:20: micro-batch="4" of <timed-as> does not divide the batch of 6; use micro-batch="1", "2", "3" or "6")"});
    exact(
        "dividing what does not divide", timed(R"(tensor="5")"),
        {R"(@FILE@:20: <timed-as> can divide only layers of a named workload; add workload="…", or remove 'tensor', 'context' and 'pipeline')"});
    exact("pieces without stages", timed(R"(workload="gpt" interleave="2")"),
          {R"(@FILE@:20: interleave="2" of <timed-as> needs a pipeline; set pipeline="2" or more)"});
    exact("flash attention of nothing", timed(R"(attention="flash")"),
          {R"(@FILE@:20: attention="flash" of <timed-as> needs a workload; use a workload with attention)"});
    exact(
        "a host of a program that is replayed", timed(R"(workload="bert-base" program="graphs" operator-time="40us")"),
        {R"(@FILE@:20: operator-time="40us" of <timed-as> needs a program whose host launches kernels; set program="eager" or "compiled")"});
    exact(
        "loss scaling in another precision", timed(R"(workload="bert-base" loss-scaling="true")"),
        {R"(@FILE@:20: loss-scaling="true" of <timed-as> needs fp16; set precision="fp16", or remove it: other precisions have the range of fp32)"});
    questions();
    exact("several at once, by line",
          edited({{R"(seed="7")", R"(seed="x")"},
                  {"rtx-3090", "rtx-390"},
                  {R"(alpha="0.3")", R"(alpha="-1")"},
                  {R"(batch="16")", R"(batch="0" batchs="equal")"},
                  {R"(algorithm="dad")", R"(algorithm="daad")"},
                  {R"(cap="8")", R"(cap="abc")"}}),
          {R"(@FILE@:2: seed="x" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)",
           R"(@FILE@:5: device="rtx-390" of <worker> is unknown; did you mean 'rtx-3090'?)",
           R"(@FILE@:10: alpha="-1" of <split> is out of range; a number from 0.001 to 1000000)",
           "@FILE@:16: unknown attribute 'batchs' of <training>; did you mean 'batch'?",
           R"(@FILE@:16: batch="0" of <training> is out of range; a whole number from 1 to 1000000)",
           R"(@FILE@:21: algorithm="daad" of <run> is unknown; did you mean 'dad'?)",
           R"(@FILE@:22: cap="abc" of <run> is not a whole number; a whole number from 1 to 65536)"});
    exact("external entity",
          edited({{R"(<scenario name="Fixture")", R"(<!DOCTYPE scenario [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<scenario name="&x;")"}}),
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs no DOCTYPE, and entities are "
           "not allowed"});
    exact("document type from the network",
          edited({{"<scenario name", R"(<!DOCTYPE scenario SYSTEM "http://example.org/evil.dtd">
<scenario name)"}}),
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs no DOCTYPE, and entities are "
           "not allowed"});
    part("undefined entity", edited({{R"(name="Fixture")", R"(name="&nbsp;Fixture")"}}),
         {"@FILE@:2: not well-formed XML: ", "nbsp", "; write & as &amp;"});
    part("bare ampersand", edited({{R"(name="Fixture")", R"(name="Tom & Anna")"}}),
         {"@FILE@:2: not well-formed XML: ", "; write & as &amp;"});
    part("mismatched tag", edited({{"</model>", "</modle>"}}),
         {"@FILE@:15: not well-formed XML: ", "modle", "; close the last opened element, by the same name"});
    part("attribute given twice", edited({{R"(seed="7")", R"(seed="7" seed="8")"}}),
         {"@FILE@:2: not well-formed XML: ", "seed", "; give each attribute once"});
    part("value without quotes", edited({{R"(seed="7")", "seed=7"}}),
         {"@FILE@:2: not well-formed XML: ", "; put every value in quotes"});
    part("two roots", edited({{"</scenario>\n", "</scenario>\n<scenario/>\n"}}),
         {"@FILE@:24: not well-formed XML: ", "; nothing may follow </scenario>"});
    part("text before the root",
         edited({{R"(<?xml version="1.0" encoding="UTF-8"?>
)",
                  "hello\n"}}),
         {"@FILE@:1: not well-formed XML: ", R"(; a scenario starts with <scenario name="…">)"});
    exact("another encoding", edited({{R"(encoding="UTF-8")", R"(encoding="ISO-8859-1")"}}),
          {R"(@FILE@:1: encoding 'ISO-8859-1'; save the file as UTF-8 and declare encoding="UTF-8")"});
  }

  /// Adds a case of an inline platform, with `from` in `piece` replaced by `to`.
  void platform(std::string name, const std::string& piece, std::string_view from, std::string_view to,
                const Lines& expected) {
    if (from != to && piece.find(from) == std::string::npos) {
      throw std::logic_error("not in the piece: " + std::string(from));
    }
    Lines at_line;
    for (const std::string& text : expected) at_line.push_back("@FILE@:3: " + text);
    exact(std::move(name), with_platform(from == to ? piece : replaced(piece, from, to)), at_line);
  }

  void platforms() {
    const std::string host_remedy = "; hosts are hospital-[1-5] hub";
    platform(
        "platform without anything", "", "", "",
        {"<platform> lacks 'file'; add the path of a platform file, or <gpu-cluster>, <federation> or <wan> inside"});
    exact(
        "cluster beside a file",
        edited({{R"(<platform file="@PLATFORM@"/>)", R"(<platform file="@PLATFORM@">)" + kFederation + "</platform>"}}),
        {R"(@FILE@:3: <federation> cannot be combined with file="…" of <platform>; use either a file or clusters inside)"});
    exact("transport of a platform inside",
          edited({{R"(<platform file="@PLATFORM@"/>)", R"(<platform transport="tcp">)" + kFederation + "</platform>"}}),
          {R"(@FILE@:3: transport="tcp" of <platform> needs a platform file of SimGrid; )"
           "remove it: the links define their transport"});
    exact("unknown transport of a file", edited({{R"("@PLATFORM@")", R"("@PLATFORM@" transport="udp")"}}),
          {R"(@FILE@:3: transport="udp" of <platform> is unknown; one of plain, tcp, rdma, nvlink)"});
    exact("host that a declared platform lacks",
          edited({{R"(<platform file="@PLATFORM@"/>)", "<platform>" + kFederation + "</platform>"},
                  {"hospital-[1-5]", "hospital-[1-4] hospital-77"}}),
          {"@FILE@:5: no host 'hospital-77' in the platform" + host_remedy});
    exact("many hosts that a declared platform lacks",
          edited({{R"(<platform file="@PLATFORM@"/>)", "<platform>" + kFederation + "</platform>"},
                  {"hospital-[1-5]", "hospital-[1-4] hospital-[77-99]"}}),
          {"@FILE@:5: no host 'hospital-77' in the platform, nor any of 22 more up to 'hospital-99'" + host_remedy});
    exact("host with a typing error",
          edited({{R"(<platform file="@PLATFORM@"/>)", "<platform>" + kFederation + "</platform>"},
                  {"hospital-[1-5]", "hospitl-[2-3]"},
                  {R"(host="hub")", R"(host="hubb")"}}),
          {"@FILE@:5: no host 'hospitl-2' in the platform; did you mean 'hospital-2'?",
           "@FILE@:5: no host 'hospitl-3' in the platform; did you mean 'hospital-3'?",
           "@FILE@:6: no host 'hubb' in the platform; did you mean 'hub'?"});

    platform(
        "GPU cluster without anything", kGpuCluster, R"( nodes="2" gpus="4" inside="nvlink-4" nic="ib-ndr")", "",
        {"<gpu-cluster> lacks 'nodes'; a whole number from 1 to 100000",
         "<gpu-cluster> lacks 'gpus'; a whole number from 1 to 100000",
         "<gpu-cluster> lacks 'inside'; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue",
         "<gpu-cluster> lacks 'nic'; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue"});
    platform("no nodes", kGpuCluster, R"(nodes="2")", R"(nodes="0")",
             {R"(nodes="0" of <gpu-cluster> is out of range; a whole number from 1 to 100000)"});
    platform("unknown link inside", kGpuCluster, "nvlink-4", "nvlink4",
             {"inside=\"nvlink4\" of <gpu-cluster> is neither a bandwidth nor a link of the catalogue; did you mean "
              "'nvlink-4'?"});
    platform("unknown link of an adapter", kGpuCluster, R"(nic="ib-ndr")", R"(nic="ethernet-10gb")",
             {"nic=\"ethernet-10gb\" of <gpu-cluster> is neither a bandwidth nor a link of the catalogue; did you mean "
              "'ethernet-10g'?"});
    platform("transport of links of the catalogue", kGpuCluster, R"(nic="ib-ndr")", R"(nic="ib-ndr" transport="rdma")",
             {"transport=\"rdma\" of <gpu-cluster> has no effect: all links between nodes come from the catalogue; "
              "remove it"});
    platform(
        "transport of a link inside of the catalogue", kGpuCluster, R"(inside="nvlink-4")",
        R"(inside="nvlink-4" inside-transport="rdma")",
        {"inside-transport=\"rdma\" of <gpu-cluster> has no effect: the catalogue link 'inside' sets the transport; "
         "remove it"});
    platform("transport of no link inside", kGpuCluster, R"(gpus="4" inside="nvlink-4")",
             R"(gpus="1" inside-transport="rdma")",
             {R"(inside-transport="rdma" of <gpu-cluster> needs 'inside'; remove it)"});
    platform("mesh of single GPUs", kGpuCluster, R"(gpus="4" inside="nvlink-4")", R"(gpus="1" mesh="true")",
             {R"(mesh="true" of <gpu-cluster> needs several GPUs per node; remove it)"});
    platform("mesh with a bridge", kGpuCluster, R"(inside="nvlink-4")",
             R"(inside="pcie-3" mesh="true" bridge="pcie-3")",
             {R"(mesh="true" of <gpu-cluster> cannot be combined with 'bridge'; remove one of them)"});
    platform("bridge of single GPUs", kGpuCluster, R"(gpus="4" inside="nvlink-4")", R"(gpus="1" bridge="pcie-3")",
             {R"(bridge="pcie-3" of <gpu-cluster> needs several GPUs per node; remove it)"});
    platform("GPUs that share no slot", kGpuCluster, R"(gpus="4")", R"(gpus="4" slot-gpus="2")",
             {R"(slot-gpus="2" of <gpu-cluster> needs 'slot'; add slot="pcie-5", or remove it)"});
    platform("slots that divide no node", kGpuCluster, R"(gpus="4")", R"(gpus="4" slot="pcie-3" slot-gpus="3")",
             {R"(slot-gpus="3" of <gpu-cluster> does not divide the 4 GPUs of a node; use a divisor)"});
    platform(
        "more rails than GPUs", kGpuCluster, R"(gpus="4")", R"(gpus="4" rails="5")",
        {R"(rails="5" of <gpu-cluster> are more than the 4 GPUs of a node, but not a multiple of the GPUs; use at most one adapter per GPU, or a multiple of the GPUs)"});
    platform(
        "sockets over InfiniBand", kGpuCluster, R"(nic="ib-ndr")", R"(nic="ib-ndr" sockets="4" queue="1MB")",
        {R"(queue="1MB" of <gpu-cluster> needs transport="tcp", not rdma; remove it: only transport="tcp" has a queue)",
         R"(sockets="4" of <gpu-cluster> needs transport="tcp", not rdma; remove it: only tcp has sockets)"});
    platform("too many hosts", kGpuCluster, R"(nodes="2")", R"(nodes="100000")",
             {"<platform> has 400000 hosts; at most 100000"});
    const std::string fabric = R"(<gpu-cluster nodes="8" gpus="1" nic="ib-ndr"><X/></gpu-cluster>)";
    platform("two fabrics", fabric, "<X/>", R"(<one-switch/><torus link="ib-ndr" dimensions="8"/>)",
             {"<torus> beside <one-switch>; keep at most one fabric"});
    platform("unknown fabric", fabric, "X", "dragon-fly",
             {"unknown element <dragon-fly> in <gpu-cluster>; did you mean 'dragonfly'?"});
    platform("fat tree without anything", fabric, "X", "fat-tree",
             {"<fat-tree> lacks 'link'; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue",
              "<fat-tree> lacks 'nodes-per-switch'; a whole number from 1 to 100000"});
    platform("undersubscribed fat tree", fabric, "X",
             R"(fat-tree link="ib-ndr" nodes-per-switch="4" oversubscription="0.5")",
             {R"(oversubscription="0.5" of <fat-tree> is out of range; a number from 1 to 1000000)"});
    platform("dragonfly of another size", fabric, "X", R"(dragonfly link="ib-ndr" groups="2" routers="2" nodes="3")",
             {"<dragonfly> has 2 × 2 × 3 = 12 nodes; the cluster has 8"});
    platform("torus of another size", fabric, "X", R"(torus link="ib-ndr" dimensions="2x2")",
             {"<torus> has 2 × 2 = 4 nodes; the cluster has 8"});
    for (const char* dimensions : {"2x", "2 2 2", "2x-4", "x", "1x1x1x1x1x1x1x1x1x1x8"}) {
      platform("torus of dimensions " + std::string(dimensions), fabric, "X",
               "torus link=\"ib-ndr\" dimensions=\"" + std::string(dimensions) + "\"",
               {"dimensions=\"" + std::string(dimensions) +
                "\" of <torus> has the wrong form; whole numbers of nodes along each axis with x between them, e.g. "
                "4x4x4"});
    }

    platform("federation without sites", kFederation, kSites, "",
             {"<federation> lacks <sites>; add at least one, e.g. <sites name=\"hospital\" count=\"5\" up=\"10Mbps\" "
              "down=\"50Mbps\" latency=\"8ms\"/>"});
    platform("sites without a line", kFederation, R"( up="10Mbps" down="50Mbps")", "",
             {"<sites> lacks 'up'; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue",
              "<sites> lacks 'down'; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue"});
    platform("line without a unit", kFederation, "10Mbps", "10",
             {"up=\"10\" of <sites> is neither a bandwidth nor a link of the catalogue; a bandwidth above 0 with its "
              "unit, e.g. 100Mbps, or a link of the catalogue"});
    platform(
        "line of no bandwidth", kFederation, "10Mbps", "0Mbps",
        {"up=\"0Mbps\" of <sites> is neither a bandwidth nor a link of the catalogue; a bandwidth above 0 with its "
         "unit, e.g. 100Mbps, or a link of the catalogue"});
    platform("line with a typing error", kFederation, "50Mbps", "cabel-down",
             {R"(down="cabel-down" of <sites> is neither a bandwidth nor a link of the catalogue; )"
              "did you mean 'cable-down'?"});
    platform("line without a latency", kFederation, R"( latency="8ms")", "",
             {"<sites> lacks 'latency'; seconds one way with their unit, e.g. 5ms; only links of the catalogue have "
              "a default"});
    platform("way up without a latency", kFederation, R"(down="50Mbps" latency)", R"(down="cable-down" down-latency)",
             {"<sites> lacks 'up-latency'; seconds one way with their unit, e.g. 5ms; only links of the catalogue have "
              "a default"});
    platform("three latencies", kFederation, "latency", R"(up-latency="1ms" down-latency="1ms" latency)",
             {"latency=\"8ms\" of <sites> cannot be combined with 'up-latency' and 'down-latency'; remove it"});
    platform(
        "negative latency", kFederation, "8ms", "-8ms",
        {"latency=\"-8ms\" of <sites> is not a number with a known unit; seconds with their unit, not below 0, e.g. "
         "5ms"});
    platform("unit behind a blank", kFederation, "8ms", "8 ms",
             {"latency=\"8 ms\" of <sites> is not a number with a known unit; did you mean '8ms'?"});
    platform("unit in other letters", kFederation, "8ms", "8msec",
             {"latency=\"8msec\" of <sites> is not a number with a known unit; did you mean '8ms'?"});
    platform(
        "bandwidth behind a blank", kFederation, "50Mbps", "50 Mbps",
        {"down=\"50 Mbps\" of <sites> is neither a bandwidth nor a link of the catalogue; did you mean '50Mbps'?"});
    platform("bandwidth in small letters", kFederation, "50Mbps", "50mbps",
             {"down=\"50mbps\" of <sites> is neither a bandwidth nor a link of the catalogue; did you mean '50Mbps'?"});
    platform(
        "bandwidth in other words", kFederation, "50Mbps", "50 MB/s",
        {"down=\"50 MB/s\" of <sites> is neither a bandwidth nor a link of the catalogue; did you mean '50MBps'?"});
    platform("efficiency above one", kFederation, "latency", R"(efficiency="1.5" latency)",
             {R"(efficiency="1.5" of <sites> is out of range; a number above 0, at most 1)"});
    platform(
        "queue without TCP", kFederation, "latency", R"(transport="rdma" queue="1MB" latency)",
        {R"(queue="1MB" of <sites> needs transport="tcp", not rdma; remove it: only transport="tcp" has a queue)"});
    platform(
        "a measured line without TCP", kFederation, "latency", R"(transport="rdma" measured="goodput" latency)",
        {R"(measured="goodput" of <sites> needs transport="tcp", not rdma; remove it: other transports reach the bandwidth of the line)"});
    platform(
        "a queue beside what was measured", kFederation, "latency", R"(measured="goodput" queue="1MB" latency)",
        {R"(queue="1MB" of <sites> cannot be combined with measured="goodput", which already includes its effect; remove one of )"
         "them"});
    platform("a connection beside a queue", kFederation, "latency", R"(per-connection="1Mbps" latency)",
             {R"(per-connection="1Mbps" of <sites> needs measured="goodput", which has no losses and no queue; )"
              R"(set measured="goodput" without 'queue' and 'congestion', or remove it)"});
    platform("queue of no bytes", kFederation, "latency", R"(queue="0" latency)",
             {R"(queue="0" of <sites> is out of range; bytes above 0 with their unit, e.g. 300kB)"});
    platform("sites with a space in their name", kFederation, R"("hospital")", R"("the hospital")",
             {"name=\"the hospital\" of <sites> holds white space or brackets; remove them: lists of hosts use these "
              "characters"});
    platform("sites with a long name", kFederation, R"("hospital")", "\"" + repeated("h", 41) + "\"",
             {"name=\"" + repeated("h", 41) + "\" of <sites> has 41 bytes; at most 40"});
    platform("sites that are called as others", kFederation, kSites, kSites + kSites,
             {"two hosts are called 'hospital-1'; use different names; the hub of a <federation> is called 'hub'"});
    platform("site that is called hub", kFederation, R"("hospital" count="5")", R"("hub")",
             {"two hosts are called 'hub'; use different names; the hub of a <federation> is called 'hub'"});
    platform("sites without end", kFederation, R"(count="5")", R"(count="100001")",
             {R"(count="100001" of <sites> is out of range; a whole number from 1 to 100000)"});
    platform("two hubs", kFederation, kSites,
             kSites + R"(<hub up="1Gbps" down="1Gbps" latency="0"/><hub up="1Gbps" down="1Gbps" latency="0"/>)",
             {"a second <hub> in <federation>; at most one"});

    const std::string pair = R"(<pair from="left" to="right" bandwidth="50Mbps" round-trip="40ms"/>)";
    platform("regions without numbers", kTwoRegions, "", "",
             {"<pair> between 'left' and 'right' is missing; add <pair from=\"left\" to=\"right\" bandwidth=\"…\" "
              "round-trip=\"…\"/>"});
    platform("regions with numbers one way", kTwoRegions, "</wan>", replaced(pair, "/>", R"( one-way="true"/></wan>)"),
             {"<pair> from 'right' to 'left' is missing; add <pair from=\"right\" to=\"left\" bandwidth=\"…\" "
              "round-trip=\"…\" one-way=\"true\"/>"});
    platform("pair given twice", kTwoRegions, "</wan>",
             pair + R"(<pair from="right" to="left" bandwidth="1Gbps" round-trip="1ms" one-way="true"/></wan>)",
             {"a second <pair> from 'right' to 'left'; use each direction once; a pair covers both unless "
              "one-way=\"true\""});
    platform("pair of an unknown region", kTwoRegions, "</wan>", replaced(pair, "right", "rihgt") + "</wan>",
             {R"(to="rihgt" of <pair> is no region here; did you mean 'right'?)"});
    platform("pair with itself", kTwoRegions, "</wan>", pair + replaced(pair, "right", "left") + "</wan>",
             {R"(to="left" of <pair> is the same as 'from'; use two different regions)"});
    platform("pair without numbers", kTwoRegions, "</wan>", R"(<pair from="left" to="right"/></wan>)",
             {"<pair> lacks 'bandwidth'; a bandwidth above 0 with its unit, e.g. 100Mbps",
              "<pair> lacks 'round-trip'; seconds with their unit, not below 0, e.g. 5ms"});
    platform(
        "region with a typing error", kTwoRegions, R"(name="left")", R"(name="aws:us-eats-1")",
        {"region 'aws:us-eats-1' is not in the table of regions and lacks a <pair>; did you mean 'aws:us-east-1'?"});
    platform("region twice", kTwoRegions, R"(name="right")", R"(name="left")",
             {R"(name="left" of <region> is the name of another <region>; use each region once)"});
    platform("region without hosts", replaced(kTwoRegions, "</wan>", pair + "</wan>"), R"("right" hosts="2")",
             R"("right")", {"<region> lacks 'hosts'; a whole number from 1 to 100000"});
    platform(
        "regions without hosts' links", replaced(kTwoRegions, "</wan>", pair + "</wan>"), R"( host="ethernet-10g")", "",
        {"<wan> lacks 'host'; add a link of the catalogue, e.g. host=\"ethernet-10g\", or host-bandwidth=\"…\" and "
         "host-latency=\"…\""});
    platform("regions with two links for hosts", replaced(kTwoRegions, "</wan>", pair + "</wan>"), "<wan ",
             R"(<wan host-bandwidth="1Gbps" )",
             {R"(host-bandwidth="1Gbps" of <wan> cannot be combined with 'host'; remove one of them)"});
    platform("hosts' bandwidth without a latency", replaced(kTwoRegions, "</wan>", pair + "</wan>"),
             R"(host="ethernet-10g")", R"(host-bandwidth="1Gbps")",
             {"<wan> lacks 'host-latency'; seconds with their unit, not below 0, e.g. 5ms"});
    platform("wan without regions", R"(<wan host="ethernet-10g"/>)", "", "",
             {"<wan> lacks <region>; add at least one, e.g. <region name=\"aws:us-east-1\" hosts=\"4\"/>"});

    platform(
        "clusters without a pair", kTwoClusters, "", "",
        {"<pair> between 'a' and 'b' is missing; add <pair from=\"a\" to=\"b\" bandwidth=\"…\" round-trip=\"…\"/>"});
    platform("clusters without names", kTwoClusters, R"( name="a")", "",
             {"<gpu-cluster> lacks 'name'; give each of several clusters its own name"});
    platform("clusters of one name", kTwoClusters, R"(name="b")", R"(name="a")",
             {R"(name="a" of <gpu-cluster> is the name of another cluster; use another name)"});
    platform("pair of an unknown cluster", kTwoClusters + replaced(pair, "left", "a"), "right", "c",
             {R"(to="c" of <pair> is no cluster here; did you mean 'b'?)"});
    platform("wan beside a cluster", kTwoRegions + kFederation, "</wan>", pair + "</wan>",
             {"<wan> cannot be combined with another cluster; remove one of them: a <wan> contains all its regions",
              "<federation> lacks 'name'; give each of several clusters its own name"});
    platform("pair with one cluster", kFederation + pair, "", "",
             {"<pair> in <platform> needs several clusters; remove it, or add a cluster; pairs of regions "
              "belong inside <wan>"});
  }

  void variation() {
    const std::string profile = R"(<profile link="hospital-1 up" times="0s 60s" factors="1 0.5" period="120s"/>)";
    const std::string with_profile = kFederation + profile;
    platform("profile without anything", kFederation + "<profile/>", "", "",
             {"<profile> lacks 'link'; the name of a link in the platform, or its beginning and *",
              "<profile> lacks 'times'; seconds with units and spaces between them, rising from 0s, e.g. 0s 60s",
              "<profile> lacks 'factors'; numbers above 0 with spaces between them, one per time, e.g. 1 0.5"});
    platform("profile that starts late", with_profile, "0s 60s", "1s 60s",
             {"times=\"1s 60s\" of <profile> does not start at 0; seconds with units and spaces between them, rising "
              "from 0s, e.g. 0s 60s"});
    platform("profile whose times fall", with_profile, "0s 60s", "0s 60s 30s",
             {"times=\"0s 60s 30s\" of <profile> does not rise; seconds with units and spaces between them, rising "
              "from 0s, e.g. 0s 60s",
              "factors=\"1 0.5\" of <profile> holds 2 numbers for 3 times; give one for each of the times"});
    platform("profile without units", with_profile, "0s 60s", "0 60",
             {"times=\"0 60\" of <profile> holds '60'; seconds with units and spaces between them, rising from 0s, "
              "e.g. 0s 60s"});
    platform("profile with a factor of zero", with_profile, "1 0.5", "1 0",
             {"factors=\"1 0\" of <profile> holds '0'; numbers above 0 with spaces between them, one per time, e.g. "
              "1 0.5"});
    platform("profile that starts again too soon", with_profile, "120s", "60s",
             {"period=\"60s\" of <profile> must be later than the last of 'times'; use a later time; the profile then "
              "starts again"});
    platform("profile of something else", with_profile, "times", R"(of="speed" times)",
             {R"(of="speed" of <profile> is unknown; one of bandwidth, latency)"});
    platform(
        "profile with a star inside", with_profile, "hospital-1 up", "hospital-* up",
        {R"(link="hospital-* up" of <profile> has a * before its end; use * at the end only, where it stands for any characters)"});
    platform("two profiles of a link", with_profile + profile, "", "",
             {"link=\"hospital-1 up\" of <profile> has another <profile> of the same kind; use at most one for "
              "bandwidth and one for latency"});
    const std::string background = kFederation + R"(<background from="hospital-1" to="hub" bytes="1MB" every="1s"/>)";
    platform("background from nowhere", background, "hospital-1", "hospital-9",
             {"from=\"hospital-9\" of <background> is no host of the platform; hosts are hospital-[1-5] hub"});
    platform("background to itself", background, R"(to="hub")", R"(to="hospital-1")",
             {R"(to="hospital-1" of <background> is also the source of the traffic; use another host)"});
    platform("background without bytes", background, R"( bytes="1MB")", "",
             {"<background> lacks 'bytes'; bytes above 0 with their unit, e.g. 300kB"});
    platform("background without a pause", background, R"(every="1s")", R"(every="0s")",
             {R"(every="0s" of <background> is out of range; seconds above 0 with their unit, e.g. 30s)"});
  }

  void network() {
    const auto with_network = [](const std::string& text) { return edited({{"  <workers>", text + "<workers>"}}); };
    exact("unknown fidelity", with_network(R"(<network fidelity="flows"/>)"),
          {R"(@FILE@:4: fidelity="flows" of <network> is unknown; did you mean 'flow'?)"});
    exact("budget of another fidelity", with_network(R"(<network fidelity="flow" message-budget="10"/>)"),
          {R"(@FILE@:4: message-budget="10" of <network> needs fidelity="auto"; )"
           "set fidelity=\"auto\", or remove it"});
    exact("no budget", with_network(R"(<network message-budget="0"/>)"),
          {R"(@FILE@:4: message-budget="0" of <network> is out of range; a whole number from 1 to 1000000000000)"});
    exact("too few timed steps", with_network(R"(<network timed-steps="7"/>)"),
          {R"(@FILE@:4: timed-steps="7" of <network> is out of range; a whole number from 8 to 1000000)"});
    part("streams over lines that were not measured",
         edited({{R"(<platform file="@PLATFORM@"/>)",
                  "<platform>" + kFederation + "</platform><network streams=\"4\"/>"}}),
         {R"(streams="4" of <network> needs a line with measured="goodput", but the platform has none; )"
          R"(set measured="goodput" on the lines, add a <pair> without a queue, or remove it)"});
    exact("rendezvous as a number", with_network(R"(<network rendezvous="1"/>)"),
          {R"(@FILE@:4: rendezvous="1" of <network> is unknown; one of false, true)"});
    exact("two networks", with_network("<network/><network/>"),
          {"@FILE@:4: a second <network> in <scenario>; at most one"});
    exact("negative jitter", with_network(R"(<network><jitter spatial="-0.1" temporal="5"/></network>)"),
          {R"(@FILE@:4: spatial="-0.1" of <jitter> is out of range; a number from 0 to 3)",
           R"(@FILE@:4: temporal="5" of <jitter> is out of range; a number from 0 to 3)"});
    part("unknown all-reduce", edited({{R"(algorithm="dad")", R"(algorithm="dad" all-reduce="rign")"}}),
         {R"(@FILE@:21: all-reduce="rign" of <run> is unknown; )"});
    part("unknown all-gather", edited({{R"(algorithm="dad")", R"(algorithm="dad" all-gather="star-ship")"}}),
         {R"(@FILE@:21: all-gather="star-ship" of <run> is unknown; )"});
    exact(
        "bucket without a unit", edited({{R"(algorithm="dad")", R"(algorithm="dad" bucket="25")"}}),
        {"@FILE@:21: bucket=\"25\" of <run> is not a number with a known unit; bytes with their unit, e.g. 25MB, or 0 "
         "for no buckets"});
    exact("first bucket without buckets", edited({{R"(algorithm="dad")", R"(algorithm="dad" first-bucket="1MB")"}}),
          {R"(@FILE@:21: first-bucket="1MB" of <run> needs buckets; remove it, or set bucket="…")"});
    exact(
        "first bucket of a negative size",
        edited({{R"(algorithm="dad")", R"(algorithm="dad" bucket="25MB" first-bucket="-1MB")"}}),
        {R"(@FILE@:21: first-bucket="-1MB" of <run> is not a number with a known unit; bytes with their unit, e.g. 1MiB)"});
    exact("collectives of an algorithm without any",
          edited({{R"(algorithm="pooled")", R"(algorithm="pooled" all-reduce="ring" all-gather="ring" bucket="1MB")"}}),
          {R"(@FILE@:20: all-reduce="ring" of <run> has no effect with 'pooled'; remove it: nothing is exchanged)",
           R"(@FILE@:20: all-gather="ring" of <run> has no effect with 'pooled'; remove it: nothing is exchanged)",
           R"(@FILE@:20: bucket="1MB" of <run> has no effect with 'pooled'; remove it: nothing is exchanged)"});
    exact("device with a step of no time",
          edited({{"  <workers>\n",
                   R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" )"
                   R"(memory-efficiency="0.7" launch-overhead="10us" step-time="0s"/>
  <workers>
)"}}),
          {R"(@FILE@:4: step-time="0s" of <device> is out of range; seconds above 0 with their unit, e.g. 30ms)"});
  }

  /// Adds a case whose cluster.xml has this `content`; errors name that file.
  void platform_file(std::string name, std::string content, const Lines& expected, const char* attributes = "") {
    Lines lines;
    for (const std::string& text : expected) {
      lines.push_back(text.starts_with("@FILE@") ? text : "@FOLDER@/cluster.xml" + text);
    }
    exact(std::move(name), edited({{R"(file="@PLATFORM@")", R"(file="cluster.xml")" + std::string(attributes)}}), lines)
        .cluster = std::move(content);
  }

  void platform_files() {
    const std::string kinds =
        "; use a platform file of SimGrid with <platform version=\"4.1\">, or a file with <cluster-platform>";
    platform_file("platform file of another language", "<?xml version=\"1.0\"?>\n<!-- <platform> -->\n<plattform/>",
                  {":3: the root element is <plattform>" + kinds});
    platform_file("platform file that is a scenario", fixture(), {":2: the root element is <scenario>" + kinds});
    platform_file("platform file without XML", "hub 1Gf\n", {":1: this is not XML" + kinds});
    platform_file("blank platform file", " \n", {": the file is empty" + kinds});
    platform_file("platform file with mistakes on its lines",
                  "<cluster-platform>\n  <federation>\n    <sites name=\"hospital\" count=\"0\" up=\"10Mbps\"\n"
                  "           down=\"50\" latency=\"8ms\"/>\n  </federation>\n  <profil/>\n</cluster-platform>\n",
                  {":3: count=\"0\" of <sites> is out of range; a whole number from 1 to 100000",
                   ":4: down=\"50\" of <sites> is neither a bandwidth nor a link of the catalogue; a bandwidth above 0 "
                   "with its unit, e.g. 100Mbps, or a link of the catalogue",
                   ":6: unknown element <profil> in <cluster-platform>; did you mean 'profile'?"});
    platform_file("platform file without a cluster", "<cluster-platform description=\"none\"/>",
                  {":1: <cluster-platform> lacks a cluster; add <gpu-cluster>, <federation> or <wan> inside"});
    platform_file("platform file with a file",
                  "<cluster-platform file=\"x.xml\">\n" + kFederation + "</cluster-platform>",
                  {":1: unknown attribute 'file' of <cluster-platform>; only description"});
    platform_file("platform file with a document type",
                  "<!DOCTYPE cluster-platform [<!ENTITY x \"y\">]>\n<cluster-platform/>",
                  {":1: a document type declaration (DOCTYPE); remove it: a platform needs no DOCTYPE, and entities "
                   "are not allowed"});
    platform_file("platform file in a namespace", "<cluster-platform xmlns=\"urn:x\"/>",
                  {":1: <cluster-platform> is in a namespace; remove xmlns: the language has no namespace"});
    platform_file("transport of a cluster platform", "<cluster-platform>" + kFederation + "</cluster-platform>",
                  {"@FILE@:3: transport=\"tcp\" of <platform> cannot be set on a <cluster-platform>; remove it: its "
                   "links define their transport"},
                  " transport=\"tcp\"");
    platform_file(
        "scenario and platform file with mistakes", "<cluster-platform>\n<wan/>\n</cluster-platform>",
        {"@FILE@:3: transport=\"udp\" of <platform> is unknown; one of plain, tcp, rdma, nvlink",
         ":2: <wan> lacks 'host'; add a link of the catalogue, e.g. host=\"ethernet-10g\", or host-bandwidth=\"…\" and "
         "host-latency=\"…\"",
         ":2: <wan> lacks <region>; add at least one, e.g. <region name=\"aws:us-east-1\" hosts=\"4\"/>"},
        " transport=\"udp\"");
  }

  /// Adds cases of numbers and characters in notations of other programs.
  void notations() {
    exact("decimal comma", edited({{R"(alpha="0.3")", R"(alpha="0,3")"}}),
          {R"(@FILE@:10: alpha="0,3" of <split> is not a number; write 0.3)"});
    exact("decimal comma of an override", fixture(),
          {R"(--set training.adam.learning-rate=0,002: learning-rate="0,002" of <adam> is not a number; write 0.002)"},
          {"training.adam.learning-rate=0,002"});
    exact("decimal comma of a quantity", with_platform(replaced(kFederation, "8ms", "8,5ms")),
          {R"(@FILE@:3: latency="8,5ms" of <sites> is not a number with a known unit; did you mean '8.5ms'?)"});
    exact("separator of thousands", edited({{R"(train="800")", R"(train="1,200")"}}),
          {R"(@FILE@:9: train="1,200" of <digits> is not a whole number; write 1200)"});
    exact("thousands or a decimal comma", edited({{R"(alpha="0.3")", R"(alpha="1,200")"}}),
          {R"(@FILE@:10: alpha="1,200" of <split> is not a number; write 1200 or 1.200)"});
    exact("whole number with a point", edited({{R"(batch="16")", R"(batch="16.0")"}}),
          {R"(@FILE@:16: batch="16.0" of <training> is not a whole number; write 16)"});
    exact("number with a no-break space", edited({{R"(alpha="0.3")", "alpha=\"0.3\u00a0\""}}),
          {"@FILE@:10: alpha=\"0.3\u00a0\" of <split> is not a number; write 0.3"});
    exact("quantity with a no-break space", with_platform(replaced(kFederation, "10Mbps", "10\u00a0Mbps")),
          {"@FILE@:3: up=\"10\u00a0Mbps\" of <sites> is neither a bandwidth nor a link of the catalogue; did you mean "
           "'10Mbps'?"});
    part("no-break space between hosts",
         edited({{R"(hosts="hospital-[1-5]")", "hosts=\"hospital-[1-3]\u00a0hospital-[4-5]\""}}),
         {"; write a blank instead of the no-break space (U+00A0)"});
    part("no-break space between attributes", edited({{R"(by="dirichlet" )", "by=\"dirichlet\"\u00a0"}}),
         {"@FILE@:10: not well-formed XML", "; write a blank instead of the no-break space (U+00A0)"});
    exact("no-break space between elements", edited({{"    <worker", "   \u00a0<worker"}}),
          {"@FILE@:5: text '\u00a0' in <workers>; write a blank instead of the no-break space (U+00A0)"});
    part("curly quotes", edited({{R"(alpha="0.3")", "alpha=\u201c0.3\u201d"}}),
         {"@FILE@:10: not well-formed XML", "; write \" instead of the curly quote (U+201C)"});
  }

  void files() {
    using File = MalformedCase::File;
    const std::string form = "give the path of a scenario file";
    exact("missing file", "", {"@FILE@: no such file; " + form}).file = File::missing;
    exact("folder", "", {"@FILE@: is a folder; " + form}).file = File::folder;
    exact("named pipe", "", {"@FILE@: is not a regular file; " + form}).file = File::pipe;
    exact("unreadable file", fixture(),
          {"@FILE@: cannot be read: Permission denied; change its permissions so that you can read it"})
        .file = File::unreadable;
    exact("100 MB", fixture(), {"@FILE@: file is 100 MB; a scenario has at most 16 MB"}).size = std::uintmax_t{100}
                                                                                                << 20U;
    exact("empty file", "", {"@FILE@: the file is empty; a scenario starts with <scenario name=\"…\">"});
    exact("blank file", " \n\n\t", {"@FILE@: the file is empty; a scenario starts with <scenario name=\"…\">"});
    exact("NUL byte", edited({{"Fixture", std::string_view("Fix\0ture", 8)}}),
          {"@FILE@:2: a NUL byte at offset 58; a scenario is UTF-8 text"});
    exact("Latin-1", edited({{"Fixture", "H\xF4pital"}}),
          {"@FILE@:2: not UTF-8: byte 0xF4 at offset 56; save the file as UTF-8"});
    exact("overlong UTF-8", edited({{"Fixture", "\xC0\xAF"}}),
          {"@FILE@:2: not UTF-8: byte 0xC0 at offset 55; save the file as UTF-8"});
    exact("surrogate in UTF-8", edited({{"Fixture", "\xED\xA0\x80"}}),
          {"@FILE@:2: not UTF-8: byte 0xED at offset 55; save the file as UTF-8"});
    exact("UTF-16", std::string("\xFF\xFE<\0s\0", 6),
          {"@FILE@: is UTF-16; save it as UTF-8: iconv -f UTF-16 -t UTF-8 @FILE@ > NEW"});
    exact("control character", edited({{"Fixture", "a\x01"}}),
          {"@FILE@:2: control character 0x01 at offset 56; remove control characters: text may hold only tabs and "
           "line ends"});
    part("truncated in a tag", fixture().substr(0, fixture().find("alpha=")),
         {"@FILE@:10: not well-formed XML: ", "; close every element; the file may have been cut off"});
    part("truncated in a value", fixture().substr(0, fixture().find("0.3")),
         {"@FILE@:10: not well-formed XML: ", "; close the quotes"});
    part("truncated between tags", fixture().substr(0, fixture().find("  <model>")),
         {"not well-formed XML: ", "; close every element; the file may have been cut off"});
    part("no XML", "{\"name\": 1}",
         {"@FILE@:1: not well-formed XML: ", "; a scenario starts with <scenario name=\"…\">"});
    exact("another language", "<html/>\n",
          {"@FILE@:1: the root element is <html>; a scenario starts with <scenario name=\"…\">"});
    exact("a platform of SimGrid",
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"/>\n",
          {"@FILE@:2: is a <platform>, not a scenario; use it in a scenario: <platform file=\"@FILE@\"/>"});
    exact("a workload", "<workload name=\"w\"/>\n",
          {"@FILE@:1: is a <workload>, not a scenario; use it in a scenario: <timed-as file=\"@FILE@\" batch=\"1\"/>"});
    const std::string nested = "<model>" + repeated("<dense>", 100000) + repeated("</dense>", 100000);
    part("nested 100,000 deep", edited({{"<model>", nested}}),
         {"@FILE@:12: not well-formed XML: ",
          "; use fewer levels of elements, or a shorter value: no scenario needs so much"});
    part("value of 11 MB", edited({{"Fixture", repeated("x", 11'000'000)}}),
         {"@FILE@:2: not well-formed XML: ", "; close the quotes; no value is longer than 10 MB"});
    exact("value of 1 MB", edited({{"\"16\"", "\"" + repeated("9", 1'000'000) + "\""}}),
          {"@FILE@:16: batch=\"" + repeated("9", 60) +
           "…\" of <training> is out of range; a whole number from 1 to 1000000"});
    exact("too many elements", edited({{"  <model>\n", "  <model>\n" + repeated("<dense/>", 200000)}}),
          {"@FILE@:13: more than 200000 elements; use fewer elements: no scenario needs so many"});
    std::string attributes;
    for (int i = 0; i < 1'000'000; ++i) attributes += " a" + std::to_string(i) + "=''";
    exact("a million attributes", edited({{"<model>", "<model" + attributes + ">"}}),
          {"@FILE@:12: a tag with more than 5000 attributes; use fewer attributes: no element has so many"});
    exact("a million ampersands", edited({{"\"16\"", "\"" + repeated("&amp;", 1'000'000) + "\""}}),
          {"@FILE@:16: batch=\"" + repeated("&", 60) +
           "…\" of <training> is not a whole number; a whole number from 1 to 1000000"});
    part("too many devices", edited({{"  <model>\n", repeated("<device/>", 2000) + "<model>\n"}}),
         {"@FILE@:2: 2000 <device>; at most 1000\n", "@FILE@: and "});
    exact("too many runs", edited({{"  <model>\n", repeated("<run algorithm=\"dad\"/>", 2000) + "<model>\n"}}),
          {"@FILE@:2: 2003 <run>; at most 1000"});
    exact("too many layers", edited({{"<model>\n", "<model>\n" + repeated("<dense units=\"2\"/>", 2000)}}),
          {"@FILE@:12: <model> has 2002 layers; at most 1000"});
    std::string entities = "<!DOCTYPE scenario [<!ENTITY l0 \"lol\">";
    for (char level = '1'; level <= '9'; ++level) {
      const std::string inner = std::string("&l") + static_cast<char>(level - 1) + ";";
      entities += std::string("<!ENTITY l") + level + " \"" + repeated(inner, 10) + "\">";
    }
    exact("billion laughs", edited({{"<scenario name=\"Fixture\"", entities + "]>\n<scenario name=\"&l9;\""}}),
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs no DOCTYPE, and entities are "
           "not allowed"});
    Lines many;
    for (int line = 13; line < 113; ++line)
      many.push_back("@FILE@:" + std::to_string(line) + ": unknown element <dens> in <model>; did you mean 'dense'?");
    many.emplace_back("@FILE@: and 1900 more errors");
    exact("2,000 errors", edited({{"  <model>\n", "  <model>\n" + repeated("<dens/>\n", 2000)}}), many);
  }

  void overrides() {
    exact("override without a value", fixture(),
          {"--set training.batch: not of the form path=value; path=value, e.g. training.batch=64"}, {"training.batch"});
    exact(
        "override with a wrong value", fixture(),
        {R"(--set training.batch=abc: batch="abc" of <training> is not a whole number; a whole number from 1 to 1000000)"},
        {"training.batch=abc"});
    exact("override of nothing", fixture(),
          {"--set =5: the path is not valid; use names with dots between them and selectors in brackets, e.g. "
           "run[2].cap=4"},
          {"=5"});
    exact("override with a broken path", fixture(),
          {"--set training..batch=5: the path is not valid; use names with dots between them and selectors in "
           "brackets, e.g. run[2].cap=4"},
          {"training..batch=5"});
    exact("override with an open bracket", fixture(),
          {"--set run[2.cap=5: not of the form path=value; path=value, e.g. training.batch=64"}, {"run[2.cap=5"});
    exact("override of an unknown element", fixture(),
          {"--set trainning.batch=5: no element 'trainning' in <scenario>; did you mean 'training'?"},
          {"trainning.batch=5"});
    exact("override of an unknown attribute", fixture(),
          {"--set training.batsh=5: unknown attribute 'batsh' of <training>; did you mean 'batch'?"},
          {"training.batsh=5"});
    exact("override of an element", fixture(),
          {"--set training=5: <training> is an element; end the path with an attribute: batch, batches, shuffle, "
           "epochs, "
           "target-accuracy, stop, evaluate-every, exact, seeds, label-smoothing, leak-every, clip-norm"},
          {"training=5"});
    exact("override of an element with choices", fixture(),
          {"--set data=5: <data> is an element; continue with one of digits, idx, cifar10, ts, csv, text, shapes, "
           "utterances, "
           "grammar, tabular, split, shift, drift"},
          {"data=5"});
    exact("override of an element with an attribute", fixture(),
          {"--set workers=5: <workers> is an element; end the path with an attribute: memory"}, {"workers=5"});
    exact("override of a description", fixture(),
          {"--set description=x: <description> is an element; only attributes can be set; edit the file"},
          {"description=x"});
    exact("override through an attribute", fixture(),
          {"--set seed.x=5: 'seed' is an attribute of <scenario> and has no parts; end the path at this attribute"},
          {"seed.x=5"});
    exact("override below an element without any", fixture(),
          {"--set data.split.x.y=5: <split> holds no elements; end the path with an attribute: by, alpha, shards, "
           "sizes, size-spread, size-exponent"},
          {"data.split.x.y=5"});
    exact("override of one among several", fixture(),
          {"--set run.cap=5: there are 3 <run>; choose one with run[1] … run[3] or run[pooled], or all with run[*]"},
          {"run.cap=5"});
    exact("override of a run by number", fixture(), {"--set run[9].cap=5: no <run> number 9; use a number from 1 to 3"},
          {"run[9].cap=5"});
    exact("override of a run by number zero", fixture(),
          {"--set run[0].cap=5: no <run> number 0; use a number from 1 to 3"}, {"run[0].cap=5"});
    exact("override of a run by an unknown name", fixture(),
          {"--set run[rank-dat].cap=5: no <run> is called 'rank-dat'; did you mean 'rank-dad'?"},
          {"run[rank-dat].cap=5"});
    exact("override of a parameter that a run lacks", fixture(),
          {"--set run[*].cap=5: 'pooled' has no parameter 'cap'; only rank-dad, flexible, cogd, partial-rank-dad have "
           "it",
           "--set run[*].cap=5: 'dad' has no parameter 'cap'; only rank-dad, flexible, cogd, partial-rank-dad have it"},
          {"run[*].cap=5"});
    exact("override of what is not there", fixture(),
          {"--set device.name=x: there is no <device> in the scenario; add the element to the file"},
          {"device.name=x"});
    exact("override with a control character", fixture(),
          {"--set description.x= : the value is not UTF-8 text without control characters; path=value, e.g. "
           "training.batch=64",
           "--set seed= : the value is not UTF-8 text without control characters; path=value, e.g. training.batch=64"},
          {"description.x=\x01", "seed=\x01"});
    exact("override that adds an optimizer", fixture(),
          {"--set training.sgd.momentum=0.9: <sgd> beside <adam>; keep at most one optimizer"},
          {"training.sgd.momentum=0.9"});
    exact("override that takes a required attribute away", fixture(),
          {"@FILE@:3: <platform> lacks 'file'; add the path of a platform file, or <gpu-cluster>, <federation> or "
           "<wan> inside"},
          {"platform.file="});
    part("more workers than classes to deal", edited({{"by=\"dirichlet\" alpha=\"0.3\"", "by=\"class\""}}),
         {"@FILE@:10: 10 classes cannot be divided among 15 workers; use at most as many workers as classes, or "
          "another "
          "split"},
         {"workers.worker.hosts=hospital-[1-5] hospital-[1-5] hospital-[1-5]"});
    exact(
        "override inside a platform", with_platform(kFederation),
        {R"(--set platform.federation.sites[hospital].up=fast: up="fast" of <sites> is neither a bandwidth nor a link )"
         "of the catalogue; a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue"},
        {"platform.federation.sites[hospital].up=fast"});
    exact("several overrides", fixture(),
          {R"(--set seed=-1: seed="-1" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)",
           R"(--set data.split.alpha=x: alpha="x" of <split> is not a number; a number from 0.001 to 1000000)",
           R"(--set training.epochs=0: epochs="0" of <training> is out of range; a number above 0, at most 1000000)"},
          {"seed=-1", "training.epochs=0", "data.split.alpha=x"});
  }

  std::vector<MalformedCase> cases_;
};

inline std::vector<MalformedCase> malformed_cases() { return MalformedCases().take(); }

/// Writes the file of a case. Returns false if the file should be unreadable but this user may read every file.
inline bool write_case(const MalformedCase& one, const std::string& path, const std::string& platform) {
  namespace fs = std::filesystem;
  switch (one.file) {
    case MalformedCase::File::missing:
      return true;
    case MalformedCase::File::folder:
      return fs::create_directory(path);
    case MalformedCase::File::pipe:
      return mkfifo(path.c_str(), 0600) == 0;
    case MalformedCase::File::regular:
    case MalformedCase::File::unreadable:
      break;
  }
  std::ofstream(path, std::ios::binary) << replaced(one.content, "@PLATFORM@", platform);
  if (one.size > 0) fs::resize_file(path, one.size);
  if (!one.cluster.empty())
    std::ofstream(fs::path(path).parent_path() / "cluster.xml", std::ios::binary) << one.cluster;
  if (one.file == MalformedCase::File::regular) return true;
  fs::permissions(path, fs::perms::none);
  return !std::ifstream(path).is_open();
}

/// Returns the difference between the expected and the actual message; empty if there is none.
inline std::string complaint(const MalformedCase& one, const std::string& path, const std::string& message) {
  std::string folder = std::filesystem::absolute(path).parent_path().string();
  std::string all;
  for (const std::string& part : one.expected) {
    const std::string text = replaced(replaced(part, "@FILE@", path), "@FOLDER@", folder);
    if (!one.exact && message.find(text) == std::string::npos) return "lacks: " + text + "\nin: " + message;
    all += (all.empty() ? "" : "\n") + text;
  }
  if (one.exact && message != all) return "expected: " + all + "\ngot: " + message;
  return {};
}

}  // namespace dadsim::test
