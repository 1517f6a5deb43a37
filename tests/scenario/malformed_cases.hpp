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

// Scenario files and overrides that have to be refused, each with what has to be said: for the reader, and for the
// program around it. Everything the cases need is in this header.

namespace dadsim::test {

struct MalformedCase {
  enum class File { regular, missing, folder, pipe, unreadable };
  std::string name;
  std::string content;  ///< "@PLATFORM@" stands for the path of a platform with hospital-1 … hospital-5 and hub
  std::vector<std::string> expected;  ///< "@FILE@" stands for the scenario's path, "@FOLDER@" for the folder it lies in
  bool exact = true;                  ///< expected are all lines in order; else each occurs somewhere in the message
  std::vector<std::string> overrides;  ///< of --set
  File file = File::regular;
  std::uintmax_t size = 0;  ///< bytes to grow the file to, sparse; 0: as large as its content
};

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size())) {
    text.replace(i, from.size(), to);
  }
  return text;
}

/// A small scenario without a mistake; each case is an edit of it.
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

/// The fixture with texts replaced, each of which occurs in it once.
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

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

class MalformedCases {
 public:
  MalformedCases() {
    language();
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

  void language() {
    exact("unknown element", edited({{"<model>\n", "<modell/>\n  <model>\n"}}),
          {"@FILE@:12: unknown element <modell> in <scenario>; did you mean 'model'?"});
    exact("unknown element without a near name", edited({{"<model>\n", "<zebra/>\n  <model>\n"}}),
          {"@FILE@:12: unknown element <zebra> in <scenario>; one of description, platform, device, workers, data, "
           "model, training, timed-as, run"});
    exact("element in the wrong place",
          edited({{R"(    <dense units="32"/>
)",
                   R"(    <dense units="32"><adam/></dense>
)"}}),
          {"@FILE@:13: unknown element <adam> in <dense>; <dense> holds no elements"});
    exact("unknown attribute", edited({{R"(batch="16")", R"(batsh="16")"}}),
          {"@FILE@:16: unknown attribute 'batsh' of <training>; did you mean 'batch'?"});
    exact("attribute of an element that has none", edited({{"<model>", R"(<model name="mlp">)"}}),
          {"@FILE@:12: unknown attribute 'name' of <model>; <model> has no attributes"});
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
    exact("missing workers",
          edited({{R"(  <workers>
    <worker hosts="hospital-[1-5]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
)",
                   ""}}),
          {R"(@FILE@:2: <scenario> lacks <workers>; who takes part: <workers> with <worker hosts="…" device="…"/>)"});
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
          {R"(@FILE@:2: <scenario> lacks <model>; the network that learns: <model> with <dense units="…"/>)",
           R"(@FILE@:2: <scenario> lacks <run>; at least one, e.g. <run algorithm="gradient-sharing"/>)"});
    exact("missing data",
          edited({{R"(  <data>
    <digits train="800" test="200"/>
    <split by="dirichlet" alpha="0.3"/>
  </data>
)",
                   ""}}),
          {"@FILE@:2: <scenario> lacks <data>; what is learned from: <data> with <digits/> or <idx …/>"});
    exact("data without a source",
          edited({{R"(    <digits train="800" test="200"/>
)",
                   ""}}),
          {"@FILE@:8: <data> lacks a source; <digits> or <idx>"});
    part("two sources", edited({{"    <split", R"(    <idx images="a" labels="b" train="1" test="1"/>
    <split)"}}),
         {"@FILE@:10: <digits> and <idx> in <data>; one source", R"(@FILE@:10: images="a" of <idx> is )",
          R"(@FILE@:10: labels="b" of <idx> is )"});
    exact("second training", edited({{R"(  <run algorithm="pooled"/>)", R"(  <training/>
  <run algorithm="pooled"/>)"}}),
          {"@FILE@:20: a second <training> in <scenario>; at most one"});
    exact("two optimizers", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<adam learning-rate="1e-3"/>
    <sgd/>)"}}),
          {"@FILE@:18: <sgd> beside <adam>; at most one optimizer"});
    exact("same optimizer twice", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<adam learning-rate="1e-3"/>
    <adam/>)"}}),
          {"@FILE@:18: a second <adam> in <training>; at most one"});
    exact("text among elements", edited({{"<model>", "<model>\n    256 then 10"}}),
          {"@FILE@:13: text '256 then 10' in <model>; only elements belong here"});
    exact("text in an element of attributes",
          edited({{R"(<digits train="800" test="200"/>)", R"(<digits train="800" test="200">many</digits>)"}}),
          {"@FILE@:9: text 'many' in <digits>; <digits> holds attributes alone"});
    exact("CDATA among elements", edited({{"<model>", "<model><![CDATA[<dense/>]]>"}}),
          {"@FILE@:12: text '<dense/>' in <model>; only elements belong here"});
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
    exact("batch in scientific notation", edited({{R"(batch="16")", R"(batch="1e3")"}}),
          {R"(@FILE@:16: batch="1e3" of <training> is not a whole number; a whole number from 1 to 1000000)"});
    exact("batch with a space", edited({{R"(batch="16")", R"(batch=" 16")"}}),
          {R"(@FILE@:16: batch=" 16" of <training> is not a whole number; a whole number from 1 to 1000000)"});
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
          {"@FILE@:12: <model> has 1.59e+08 parameters; at most 1e+08: it is learned for real; time a larger one with "
           "<timed-as>"});
    exact("target in per cent", edited({{R"(epochs="2")", R"(epochs="2" target-accuracy="95%")"}}),
          {R"(@FILE@:16: target-accuracy="95%" of <training> is not a number; a number above 0, at most 1)"});
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
          {"@FILE@:9: <digits> asks for 200100 samples; train and test together are at most 200000"});
    exact("no test samples", edited({{R"(test="200")", R"(test="0")"}}),
          {R"(@FILE@:9: test="0" of <digits> is out of range; a whole number from 1 to 200000)"});
    exact("fewer samples than workers", edited({{R"(train="800")", R"(train="4")"}}),
          {"@FILE@:8: 4 training samples for 5 workers; at least one for each"});
    exact("parameter of another split", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="class" alpha="0.3")"}}),
          {R"(@FILE@:10: alpha="0.3" of <split> means nothing with by="class"; only by="dirichlet" has it)"});
    exact("unknown split", edited({{R"(by="dirichlet")", R"(by="dirichelt")"}}),
          {R"(@FILE@:10: by="dirichelt" of <split> is unknown; did you mean 'dirichlet'?)"});
    exact("alpha zero", edited({{R"(alpha="0.3")", R"(alpha="0")"}}),
          {R"(@FILE@:10: alpha="0" of <split> is out of range; a number from 0.001 to 1000000)"});
    exact("too many shards", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="shards" shards="161")"}}),
          {"@FILE@:10: 161 shards for each of 5 workers are more than 800 training samples; fewer shards"});
    exact("sizes missing", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes")"}}),
          {"@FILE@:10: <split> lacks 'sizes'; whole numbers from 1 to 1000000000 with spaces between them"});
    exact("sizes for too few workers", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="100 200")"}}),
          {R"(@FILE@:10: sizes="100 200" of <split> holds 2 numbers; one for each of the 5 workers)"});
    exact("sizes beyond the data",
          edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="400 100 100 100 101")"}}),
          {R"(@FILE@:10: sizes="400 100 100 100 101" of <split> adds up to 801; at most the 800 training samples)"});
    exact(
        "sizes with a word", edited({{R"(by="dirichlet" alpha="0.3")", R"(by="sizes" sizes="100 100 many 100 100")"}}),
        {R"(@FILE@:10: sizes="100 100 many 100 100" of <split> holds 'many'; whole numbers from 1 to 1000000000 with spaces between them)"});
    part(
        "IDX files missing",
        edited({{R"(<digits train="800" test="200"/>)",
                 R"(<idx images="no-such-images" labels="no-such/train-labels-idx1-ubyte" train="800" test="200"/>)"}}),
        {R"(@FILE@:9: images="no-such-images" of <idx> is )",
         R"(@FILE@:9: labels="no-such/train-labels-idx1-ubyte" of <idx> is )", "DADSIM_DATA",
         "published at http://yann.lecun.com/exdb/mnist/"});
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
         R"(@FILE@:9: test-images="/no/t10k-images-idx3-ubyte.gz" of <idx> does not exist; published at http://yann.lecun.com/exdb/mnist/)",
         "@FILE@:9: <idx> lacks 'test-labels'; the path of an IDX file"});
    exact("empty model",
          edited({{R"(    <dense units="32"/>
    <dense units="10"/>
)",
                   ""}}),
          {"@FILE@:12: <model> lacks <dense>; at least one layer, the last with one unit per class"});
    exact("last layer does not fit the classes", edited({{R"(units="10")", R"(units="12")"}}),
          {R"(@FILE@:14: units="12" of <dense> does not fit the data as the last layer; the data have 10 classes)"});
    exact("unknown activation", edited({{R"(units="32")", R"(units="32" activation="rellu")"}}),
          {R"(@FILE@:13: activation="rellu" of <dense> is unknown; did you mean 'relu'?)"});
    exact("schedule attribute of another kind", edited({{R"(kind="cosine")", R"(kind="cosine" milestones="1")"}}),
          {R"(@FILE@:18: milestones="1" of <schedule> means nothing with kind="cosine"; only kind="steps" has it)"});
    exact("steps without milestones", edited({{R"(kind="cosine")", R"(kind="steps")"}}),
          {"@FILE@:18: <schedule> lacks 'milestones'; whole numbers from 1 to 1000000 with spaces between them"});
    exact("milestones that fall", edited({{R"(kind="cosine")", R"(kind="steps" milestones="5 3")"}}),
          {R"(@FILE@:18: milestones="5 3" of <schedule> does not increase; epochs in rising order, each once)"});
    exact("unknown schedule", edited({{R"(kind="cosine")", R"(kind="cosin")"}}),
          {R"(@FILE@:18: kind="cosin" of <schedule> is unknown; did you mean 'cosine'?)"});
    exact("nesterov without momentum", edited({{R"(<adam learning-rate="1e-3"/>)", R"(<sgd nesterov="true"/>)"}}),
          {R"(@FILE@:17: nesterov="true" of <sgd> needs momentum; a momentum above 0, e.g. momentum="0.9")"});
    exact("momentum of Adam", edited({{R"(learning-rate="1e-3")", R"(momentum="0.9")"}}),
          {"@FILE@:17: unknown attribute 'momentum' of <adam>; one of learning-rate, beta1, beta2, epsilon, "
           "weight-decay"});
    exact(
        "platform missing", edited({{"@PLATFORM@", "no-such-platform.xml"}}),
        {R"(@FILE@:3: file="no-such-platform.xml" of <platform> does not exist; looked for '@FOLDER@/no-such-platform.xml'; the path is relative to the scenario)"});
    exact("platform a folder", edited({{"@PLATFORM@", "/"}}),
          {R"(@FILE@:3: file="/" of <platform> is not a file that can be read; the path of a SimGrid platform file)"});
    exact("unknown device", edited({{"rtx-3090", "rtx-3900"}}),
          {R"(@FILE@:5: device="rtx-3900" of <worker> is unknown; did you mean 'rtx-3090'?)"});
    exact("missing device", edited({{R"( device="rtx-3090")", ""}}),
          {"@FILE@:5: <worker> lacks 'device'; the name of a device; `dadsim devices` lists them"});
    part("host that the platform lacks", edited({{"hospital-[1-5]", "hospital-[1-4] hospital-77"}}),
         {"@FILE@:5: ", "hospital-77"});
    part("aggregator that the platform lacks", edited({{R"(host="hub")", R"(host="hubb")"}}), {"@FILE@:6: ", "hubb"});
    exact(
        "range that falls", edited({{"hospital-[1-5]", "hospital-[5-1]"}}),
        {R"(@FILE@:5: hosts="hospital-[5-1]" of <worker> holds 'hospital-[5-1]' with a range that ends before it begins; the smaller number comes first)"});
    exact(
        "range without an end", edited({{"hospital-[1-5]", "hospital-[1-"}}),
        {R"(@FILE@:5: hosts="hospital-[1-" of <worker> holds 'hospital-[1-' with misplaced brackets; a name with at most one range of numbers, e.g. gpu-[0-15])"});
    exact(
        "range of words", edited({{"hospital-[1-5]", "hospital-[a-e]"}}),
        {R"(@FILE@:5: hosts="hospital-[a-e]" of <worker> holds 'hospital-[a-e]' with a range that is not two numbers; a name with at most one range of numbers, e.g. gpu-[0-15])"});
    exact(
        "range with two parts", edited({{"hospital-[1-5]", "hospital-[1-2]-[3-4]"}}),
        {R"(@FILE@:5: hosts="hospital-[1-2]-[3-4]" of <worker> holds 'hospital-[1-2]-[3-4]' with misplaced brackets; a name with at most one range of numbers, e.g. gpu-[0-15])"});
    exact(
        "range that is too long", edited({{"hospital-[1-5]", "hospital-[1-1000000000000]"}}),
        {R"(@FILE@:5: hosts="hospital-[1-1000000000000]" of <worker> names too many hosts; at most 100000 workers in all)"});
    exact("no hosts", edited({{"hospital-[1-5]", ""}}),
          {R"(@FILE@:5: hosts="" of <worker> is empty; names of hosts in the platform, e.g. gpu-[0-15])"});
    exact(
        "workers without a worker",
        edited({{R"(    <worker hosts="hospital-[1-5]" device="rtx-3090"/>
)",
                 ""}}),
        {R"(@FILE@:4: <workers> lacks <worker>; at least one, e.g. <worker hosts="gpu-[0-15]" device="a100-sxm4-80"/>)"});
    exact("two aggregators", edited({{"</workers>", R"(  <aggregator host="hub" device="xeon-8380"/>
  </workers>)"}}),
          {"@FILE@:7: a second <aggregator> in <workers>; at most one"});
    exact("aggregator on several hosts", edited({{R"(host="hub")", R"(host="hub hospital-1")"}}),
          {R"(@FILE@:6: host="hub hospital-1" of <aggregator> is more than one name; one host)"});
    exact(
        "device with a wrong unit",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10GBps" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: peak-flops="10GBps" of <device> is not a number with such a unit; flop/s above 0 with their unit, e.g. 10TF)"});
    exact(
        "device without a unit",
        edited(
            {{"  <workers>\n",
              R"(  <device name="mine" peak-flops="10TF" memory-bandwidth="300" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us"/>
  <workers>
)"}}),
        {R"(@FILE@:4: memory-bandwidth="300" of <device> is not a number with such a unit; bytes per second above 0 with their unit, e.g. 300GBps)"});
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
        {R"(@FILE@:4: peak-flops="infTF" of <device> is not a number with such a unit; flop/s above 0 with their unit, e.g. 10TF)"});
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
        {R"(@FILE@:4: name="rtx-3090" of <device> is a device of the catalogue; a name of its own)"});
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
        {R"(@FILE@:5: name="mine" of <device> is taken by another <device>; a name of its own)"});
    exact("unknown algorithm", edited({{R"(algorithm="dad")", R"(algorithm="daad")"}}),
          {R"(@FILE@:21: algorithm="daad" of <run> is unknown; did you mean 'dad'?)"});
    exact("missing algorithm", edited({{R"( algorithm="dad")", ""}}),
          {"@FILE@:21: <run> lacks 'algorithm'; one of pooled, no-sharing, gradient-sharing, dad, edad, rank-dad"});
    exact("parameter that the algorithm lacks", edited({{R"(algorithm="dad")", R"(algorithm="dad" cap="4")"}}),
          {"@FILE@:21: 'dad' has no parameter 'cap'; only rank-dad has it"});
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
        {R"(@FILE@:20: exchange="aggregator" of <run> needs an aggregator; an <aggregator> in <workers>, or exchange="peer")"});
    exact("exchange of an algorithm without any",
          edited({{R"(algorithm="pooled")", R"(algorithm="pooled" exchange="peer")"}}),
          {R"(@FILE@:20: exchange="peer" of <run> means nothing to 'pooled'; remove it: nothing is exchanged)"});
    exact("unknown exchange", edited({{R"(algorithm="dad")", R"(algorithm="dad" exchange="pear")"}}),
          {R"(@FILE@:21: exchange="pear" of <run> is unknown; did you mean 'peer'?)"});
    exact("two runs of a label",
          edited({{R"(algorithm="pooled")", R"(algorithm="pooled" label="a")"},
                  {R"(algorithm="dad")", R"(algorithm="dad" label="a")"}}),
          {R"(@FILE@:21: label="a" of <run> is taken by another run; labels are unique)"});
    exact("unknown workload", edited({{R"(  <run algorithm="pooled"/>)", R"(  <timed-as workload="resnet50"/>
  <run algorithm="pooled"/>)"}}),
          {R"(@FILE@:20: workload="resnet50" of <timed-as> is unknown; did you mean 'resnet-50'?)"});
    exact("several at once, by line",
          edited({{R"(seed="7")", R"(seed="x")"},
                  {"rtx-3090", "rtx"},
                  {R"(alpha="0.3")", R"(alpha="-1")"},
                  {R"(batch="16")", R"(batch="0" batchs="equal")"},
                  {R"(algorithm="dad")", R"(algorithm="daad")"},
                  {R"(cap="8")", R"(cap="abc")"}}),
          {R"(@FILE@:2: seed="x" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)",
           R"(@FILE@:5: device="rtx" of <worker> is unknown; did you mean 'rtx-3090'?)",
           R"(@FILE@:10: alpha="-1" of <split> is out of range; a number from 0.001 to 1000000)",
           "@FILE@:16: unknown attribute 'batchs' of <training>; did you mean 'batch'?",
           R"(@FILE@:16: batch="0" of <training> is out of range; a whole number from 1 to 1000000)",
           R"(@FILE@:21: algorithm="daad" of <run> is unknown; did you mean 'dad'?)",
           R"(@FILE@:22: cap="abc" of <run> is not a whole number; a whole number from 1 to 65536)"});
    exact("external entity",
          edited({{R"(<scenario name="Fixture")", R"(<!DOCTYPE scenario [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<scenario name="&x;")"}}),
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs none, and entities are not "
           "allowed"});
    exact("document type from the network",
          edited({{"<scenario name", R"(<!DOCTYPE scenario SYSTEM "http://example.org/evil.dtd">
<scenario name)"}}),
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs none, and entities are not "
           "allowed"});
    part("undefined entity", edited({{R"(name="Fixture")", R"(name="&nbsp;Fixture")"}}),
         {"@FILE@:2: not well-formed XML: ", "nbsp", "; write & as &amp;"});
    part("bare ampersand", edited({{R"(name="Fixture")", R"(name="Tom & Anna")"}}),
         {"@FILE@:2: not well-formed XML: ", "; write & as &amp;"});
    part("mismatched tag", edited({{"</model>", "</modle>"}}),
         {"@FILE@:15: not well-formed XML: ", "modle", "; close the element that was opened last, by the same name"});
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

  void files() {
    using File = MalformedCase::File;
    const std::string form = "the path of a scenario file";
    exact("missing file", "", {"@FILE@: no such file; " + form}).file = File::missing;
    exact("folder", "", {"@FILE@: is a folder; " + form}).file = File::folder;
    exact("named pipe", "", {"@FILE@: is not a regular file; " + form}).file = File::pipe;
    exact("unreadable file", fixture(),
          {"@FILE@: cannot be read: Permission denied; give yourself the right to read it"})
        .file = File::unreadable;
    exact("100 MB", fixture(), {"@FILE@: file is 100 MB; a scenario is at most 16 MB"}).size = std::uintmax_t{100}
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
    exact("UTF-16", std::string("\xFF\xFE<\0s\0", 6), {"@FILE@:1: a NUL byte at offset 3; a scenario is UTF-8 text"});
    exact(
        "control character", edited({{"Fixture", "a\x01"}}),
        {"@FILE@:2: control character 0x01 at offset 56; of control characters, text holds tabs and line ends alone"});
    part("truncated in a tag", fixture().substr(0, fixture().find("alpha=")),
         {"@FILE@:10: not well-formed XML: ", "; close every element; the file may have been cut off"});
    part("truncated in a value", fixture().substr(0, fixture().find("0.3")),
         {"@FILE@:10: not well-formed XML: ", "; close the quotes"});
    part("truncated between tags", fixture().substr(0, fixture().find("  <model>")),
         {"not well-formed XML: ", "; close every element; the file may have been cut off"});
    part("no XML", "{\"name\": 1}",
         {"@FILE@:1: not well-formed XML: ", "; a scenario starts with <scenario name=\"…\">"});
    exact("another language", "<platform version=\"4.1\"/>\n",
          {"@FILE@:1: the root element is <platform>; a scenario starts with <scenario name=\"…\">"});
    const std::string nested = "<model>" + repeated("<dense>", 100000) + repeated("</dense>", 100000);
    part("nested 100,000 deep", edited({{"<model>", nested}}),
         {"@FILE@:12: not well-formed XML: ", "; no scenario needs so much depth or so long a value"});
    part("value of 11 MB", edited({{"Fixture", repeated("x", 11'000'000)}}),
         {"@FILE@:2: not well-formed XML: ", "; close the quotes; no value is longer than 10 MB"});
    exact("value of 1 MB", edited({{"\"16\"", "\"" + repeated("9", 1'000'000) + "\""}}),
          {"@FILE@:16: batch=\"" + repeated("9", 60) +
           "…\" of <training> is out of range; a whole number from 1 to 1000000"});
    exact("too many elements", edited({{"  <model>\n", "  <model>\n" + repeated("<dense/>", 200000)}}),
          {"@FILE@:13: more than 100000 elements; no scenario needs so many"});
    std::string attributes;
    for (int i = 0; i < 1'000'000; ++i) attributes += " a" + std::to_string(i) + "=''";
    exact("a million attributes", edited({{"<model>", "<model" + attributes + ">"}}),
          {"@FILE@:12: a tag with more than 5000 attributes; no element has so many"});
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
          {"@FILE@:2: a document type declaration (DOCTYPE); remove it: a scenario needs none, and entities are not "
           "allowed"});
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
          {"--set =5: the path is broken; names with dots between them and selectors in brackets, e.g. run[2].cap=4"},
          {"=5"});
    exact("override with a broken path", fixture(),
          {"--set training..batch=5: the path is broken; names with dots between them and selectors in brackets, e.g. "
           "run[2].cap=4"},
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
          {"--set training=5: <training> is an element; a path ends with an attribute: batch, batches, epochs, "
           "target-accuracy, stop, evaluate-every"},
          {"training=5"});
    exact("override of an element with choices", fixture(),
          {"--set workers=5: <workers> is an element; go on to one of worker, aggregator"}, {"workers=5"});
    exact("override of a description", fixture(),
          {"--set description=x: <description> is an element; only attributes can be set; edit the file"},
          {"description=x"});
    exact("override through an attribute", fixture(),
          {"--set seed.x=5: 'seed' is an attribute of <scenario> and holds nothing; end the path there"}, {"seed.x=5"});
    exact("override below an element without any", fixture(),
          {"--set platform.x.y=5: <platform> holds no elements; a path ends with an attribute: file"},
          {"platform.x.y=5"});
    exact("override of one among several", fixture(),
          {"--set run.cap=5: there are 3 <run>; choose one with run[1] … run[3] or run[pooled], or all with run[*]"},
          {"run.cap=5"});
    exact("override of a run by number", fixture(),
          {"--set run[9].cap=5: no <run> number 9; there are 3, counted from 1"}, {"run[9].cap=5"});
    exact("override of a run by number zero", fixture(),
          {"--set run[0].cap=5: no <run> number 0; there are 3, counted from 1"}, {"run[0].cap=5"});
    exact("override of a run by an unknown name", fixture(),
          {"--set run[rank-dat].cap=5: no <run> is called 'rank-dat'; did you mean 'rank-dad'?"},
          {"run[rank-dat].cap=5"});
    exact("override of a parameter that a run lacks", fixture(),
          {"--set run[*].cap=5: 'pooled' has no parameter 'cap'; only rank-dad has it",
           "--set run[*].cap=5: 'dad' has no parameter 'cap'; only rank-dad has it"},
          {"run[*].cap=5"});
    exact("override of what is not there", fixture(),
          {"--set device.name=x: there is no <device> in the scenario; add it to the file"}, {"device.name=x"});
    exact("override with a control character", fixture(),
          {"--set description.x= : the value is not UTF-8 text without control characters; path=value, e.g. "
           "training.batch=64",
           "--set seed= : the value is not UTF-8 text without control characters; path=value, e.g. training.batch=64"},
          {"description.x=\x01", "seed=\x01"});
    exact("override that adds an optimizer", fixture(),
          {"--set training.sgd.momentum=0.9: <sgd> beside <adam>; at most one optimizer"},
          {"training.sgd.momentum=0.9"});
    exact("override that takes a required attribute away", fixture(),
          {"@FILE@:3: <platform> lacks 'file'; the path of a SimGrid platform file"}, {"platform.file="});
    part("more workers than classes to deal", edited({{"by=\"dirichlet\" alpha=\"0.3\"", "by=\"class\""}}),
         {"@FILE@:10: 10 classes cannot be dealt to 15 workers; a class goes to one worker: at most as many workers as "
          "classes, or another split"},
         {"workers.worker.hosts=hospital-[1-5] hospital-[1-5] hospital-[1-5]"});
    exact("several overrides", fixture(),
          {R"(--set seed=-1: seed="-1" of <scenario> is no seed; a whole number from 0 to 18446744073709551615)",
           R"(--set data.split.alpha=x: alpha="x" of <split> is not a number; a number from 0.001 to 1000000)",
           R"(--set training.epochs=0: epochs="0" of <training> is out of range; a number above 0, at most 1000000)"},
          {"seed=-1", "training.epochs=0", "data.split.alpha=x"});
  }

  std::vector<MalformedCase> cases_;
};

inline std::vector<MalformedCase> malformed_cases() { return MalformedCases().take(); }

/// Makes the file of a case. False where it cannot be made unreadable, because the user may read everything.
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
  if (one.file == MalformedCase::File::regular) return true;
  fs::permissions(path, fs::perms::none);
  return !std::ifstream(path).is_open();
}

/// What is wrong with the message that the case got; empty if nothing.
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
