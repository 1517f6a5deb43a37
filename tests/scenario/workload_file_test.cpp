// Tests workloads that users define in files.
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/elements/read_workload.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

const std::string kHeading = "layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample\n";

scenario::OwnWorkload read(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write(name, content);
  scenario::Findings findings(path);
  std::optional<scenario::OwnWorkload> own = scenario::read_workload_file(path, findings);
  findings.throw_if_any();
  return own.value();
}

/// Returns the errors about a file, without the folder's path.
std::vector<std::string> errors_of(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write(name, content);
  scenario::Findings findings(path);
  EXPECT_FALSE(scenario::read_workload_file(path, findings));
  std::vector<std::string> lines;
  try {
    findings.throw_if_any();
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      lines.push_back(replaced(to_string(diagnostic), path, name));
  }
  return lines;
}

TEST(WorkloadFile, CsvAndXmlSayTheSame) {
  const scenario::OwnWorkload csv = read("tiny.csv", "\xEF\xBB\xBF" + kHeading +
                                                         "words,embedding,8,100,5,800,0\r\n"
                                                         "fc, dense, 8, 4, 5, 36, 160\n\n"
                                                         "mix,attention,0,0,0,0,200\n"
                                                         "norm,normalisation,0,0,0,8,0\n");
  EXPECT_EQ(csv.shape.name, "tiny");
  EXPECT_EQ(csv.dataset_size, 0);
  ASSERT_EQ(csv.shape.layers.size(), 4U);
  EXPECT_EQ(csv.shape.parameters(), 800 + 36 + 8);
  EXPECT_EQ(csv.shape.forward_macs_per_sample(), 360);
  EXPECT_TRUE(csv.shape.layers[1].bias) << "36 = 8 · 4 + 4";
  EXPECT_EQ(csv.shape.layers[1].outputs_per_sample, 4 * 5);
  EXPECT_EQ(csv.shape.layers[0].outputs_per_sample, 8 * 5);
  EXPECT_EQ(csv.shape.layers[2].rows_per_sample, 1) << "0 rows count as 1";

  const scenario::OwnWorkload xml = read("other.xml", R"(<?xml version="1.0"?>
<workload name="tiny" samples-per-epoch="1000">
  <layer name="words" kind="embedding" in="8" out="100" rows-per-sample="5"/>
  <layer name="fc" kind="dense" in="8" out="4" rows-per-sample="5" parameters="36"/>
  <layer name="mix" kind="attention" forward-macs-per-sample="200"/>
  <layer name="norm" kind="normalisation" parameters="8"/>
</workload>)");
  EXPECT_EQ(xml.shape, csv.shape);
  EXPECT_EQ(xml.dataset_size, 1000);
}

TEST(WorkloadFile, ARecurrenceCanSayThatItIsSequential) {
  const scenario::OwnWorkload own = read("r.csv", "sequential," + kHeading + "30,hidden,dense,6,24,30,168,4320\n");
  EXPECT_EQ(own.shape.layers.at(0).sequential, 30);
}

TEST(WorkloadFile, EverythingWrongInACsvIsSaidAtOnce) {
  const std::vector<std::string> expected{
      "bad.csv:2: in=\"eight\" of <layer> is not a whole number; a whole number from 0 to 1000000000",
      "bad.csv:3: kind=\"dens\" of <layer> is unknown; did you mean 'dense'?",
      "bad.csv:4: 3 cells; write 7 cells as in the heading, separated by commas, without commas inside",
      "bad.csv:5: parameters=\"-1\" of <layer> is out of range; a whole number from 0 to 10000000000000",
      "bad.csv:5: forward-macs-per-sample=\"1e30\" of <layer> is out of range; a number from 0 to 1e+18",
      "bad.csv:6: a second layer 'fc3'; use another name",
      "bad.csv:7: layer 'mix' of kind attention has a matrix; set 'in' and 'out' to 0, and add the matrices as dense "
      "layers",
      "bad.csv:8: name=\"\" of <layer> is empty; use another name",
  };
  EXPECT_EQ(errors_of("bad.csv", kHeading + "fc1,attention,eight,0,1,0,8\n"
                                            "fc2,dens,8,4,1,32,32\n"
                                            "fc4,dense,8\n"
                                            "fc3,dense,8,4,1,-1,1e30\n"
                                            "fc3,dense,8,4,1,32,32\n"
                                            "mix,attention,8,4,1,0,32\n"
                                            ",dense,8,4,1,32,32\n"),
            expected);
}

TEST(WorkloadFile, AHeadingIsCheckedBeforeTheLines) {
  const std::vector<std::string> expected{
      "h.csv:1: unknown column 'params'; one of layer, kind, in, out, rows_per_sample, parameters, "
      "forward_macs_per_sample, outputs_per_sample, sequential",
      "h.csv:1: the column 'parameters' is missing; use a heading with "
      "layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample, or <workload name=\"…\">",
  };
  EXPECT_EQ(errors_of("h.csv", "layer,kind,in,out,rows_per_sample,params,forward_macs_per_sample\nx\n"), expected);
  EXPECT_EQ(errors_of("e.csv", "\n \n").at(0).substr(0, 25), "e.csv: the file is empty;");
  EXPECT_EQ(errors_of("binary.csv", std::string("\0\1\xFF", 3)).at(0),
            "binary.csv: the file is not text in UTF-8; use a workload as XML or CSV");
}

TEST(WorkloadFile, EverythingWrongInXmlIsSaidAtOnce) {
  const std::vector<std::string> expected{
      "bad.xml:1: <workload> lacks 'name'; the name in the result",
      "bad.xml:2: kind=\"convolutional\" of <layer> is unknown; did you mean 'convolution'?",
      std::string("bad.xml:3: <layer> lacks 'kind'; one of dense, convolution, attention, recurrence, embedding, ") +
          "normalisation, element-wise",
      "bad.xml:4: layer 'c' of kind dense has no matrix; set 'in' to the number of inputs and 'out' to the number of "
      "outputs",
      "bad.xml:5: sequential=\"0\" of <layer> is out of range; a whole number from 1 to 1000000000",
  };
  EXPECT_EQ(errors_of("bad.xml",
                      "<workload>\n<layer name=\"a\" kind=\"convolutional\"/>\n<layer name=\"b\"/>\n"
                      "<layer name=\"c\" kind=\"dense\" in=\"4\"/>\n"
                      "<layer name=\"d\" kind=\"dense\" in=\"4\" out=\"4\" sequential=\"0\"/>\n</workload>"),
            expected);
  EXPECT_EQ(errors_of("root.xml", "<platform/>").at(0),
            "root.xml:1: the root element is <platform>; use <workload name=\"…\"> as the root, without a namespace");
}

TEST(WorkloadFile, NeedsAMatrixOfItsOwn) {
  // A file whose only layer is a tied decoder has no matrix: a tied layer has fewer than in × out parameters.
  EXPECT_EQ(errors_of("none.csv", kHeading + "decoder,dense,650,28869,30,28869,562945500\n").at(0),
            "none.csv:1: no layer has a matrix; add at least one layer of kind dense or convolution with at least in × "
            "out parameters");
}

// An element that the whole language does not have once crashed the program.
TEST(WorkloadFile, SaysWhichElementOfARecordedStepIsUnknown) {
  const auto said = [](const std::string& element) {
    return errors_of("step.xml", "<recorded-step name=\"ours\" workers=\"4\">\n  <compute seconds=\"0.1\"/>\n  " +
                                     element + "\n</recorded-step>\n");
  };
  const std::string choices = "; one of compute, collective, wait";
  EXPECT_EQ(said("<send bytes=\"1000\"/>"),
            (std::vector<std::string>{"step.xml:3: unknown element <send> in <recorded-step>" + choices}));
  EXPECT_EQ(
      said("<compte seconds=\"1\"><a/>words</compte>"),
      (std::vector<std::string>{"step.xml:3: unknown element <compte> in <recorded-step>; did you mean 'compute'?"}));
  EXPECT_EQ(said("<run/>"),
            (std::vector<std::string>{"step.xml:3: unknown element <run> in <recorded-step>" + choices}));
  EXPECT_EQ(said("<compute seconds=\"1\"><send/></compute>").size(), 1U);
  EXPECT_EQ(said("<a:compute xmlns:a=\"b\"/>").size(), 1U);
}

TEST(WorkloadFile, HasLimits) {
  std::string many = kHeading;
  for (int i = 0; i < 10'001; ++i) many += "l" + std::to_string(i) + ",dense,1,1,1,1,1\n";
  EXPECT_EQ(errors_of("many.csv", many).at(0), "many.csv:10002: more than 10000 layers; at most 10000");
  EXPECT_EQ(errors_of("large.csv", kHeading + "fc,dense,1000000000,1000000000,1,1,1\n").at(0),
            "large.csv:2: layer 'fc' of kind dense is too large; at most 10000000000000 parameters");
  EXPECT_EQ(errors_of("long.csv", kHeading + std::string(201, 'x') + ",dense,1,1,1,1,1\n").at(0),
            "long.csv:2: the name of a layer is too long; at most 200 bytes");
}

class TimedAsFile : public testing::Test {
 protected:
  scenario::Scenario load(const std::string& timed_as) {
    folder_.write("platform.xml", fake_platform());
    std::string text = replaced(fixture(), "@PLATFORM@", "platform.xml");
    text = replaced(text, "  <run algorithm=\"pooled\"/>", timed_as + "\n  <run algorithm=\"pooled\"/>");
    return load_scenario(folder_.write("scenario.xml", text), {}, fake_catalog());
  }
  std::string error_of(const std::string& timed_as) {
    try {
      load(timed_as);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  const TemporaryFolder folder_;
};

TEST_F(TimedAsFile, HoldsWhatStandsInTheFileBesideTheScenario) {
  folder_.write("own.csv", kHeading + "fc,dense,8,4,5,36,160\n");
  const scenario::Scenario scenario =
      load(R"(<timed-as file="own.csv" batch="7" steps="1000" target="as low as 2 nats")"
           R"( evaluation-every="100" evaluation-seconds="2.5" start-up="90s"/>)");
  const spec::TimedAsSpec& timed = scenario.timed_as.value();
  EXPECT_TRUE(timed.of_other_network());
  EXPECT_EQ(timed.file, folder_.path("own.csv"));
  EXPECT_EQ(timed.own_shape.parameters(), 36);
  EXPECT_EQ(timed.batch, 7);
  EXPECT_EQ(timed.steps, 1000);
  EXPECT_EQ(timed.target, "as low as 2 nats");
  EXPECT_EQ(timed.evaluation_every, 100);
  EXPECT_EQ(timed.evaluation_seconds, 2.5);
  EXPECT_EQ(timed.start_up, 90);
}

TEST_F(TimedAsFile, TheHashIsOfTheContent) {
  folder_.write("own.csv", kHeading + "fc,dense,8,4,5,36,160\n");
  const std::uint64_t one = load(R"(<timed-as file="own.csv"/>)").hash;
  folder_.write("other.csv", kHeading + "fc,dense,8,4,5,36,160\n");
  EXPECT_EQ(load(R"(<timed-as file="other.csv"/>)").hash, one);
  folder_.write("own.csv", kHeading + "fc,dense,8,4,5,36,161\n");
  EXPECT_NE(load(R"(<timed-as file="own.csv"/>)").hash, one);
}

TEST_F(TimedAsFile, SaysWhatDoesNotGoTogether) {
  const auto says = [&](const std::string& timed_as, const std::string& what) {
    const std::string error = error_of(timed_as);
    EXPECT_NE(error.find(what), std::string::npos) << timed_as << "\n" << error;
  };
  folder_.write("own.csv", kHeading + "fc,dense,8,4,5,36,160\n");
  folder_.write("bad.csv", kHeading + "fc,dense,8,4,5,36\n");
  says(R"(<timed-as file="nowhere.csv"/>)", "file=\"nowhere.csv\" of <timed-as> does not exist; looked for");
  says(R"(<timed-as file="bad.csv"/>)", "bad.csv:2: 6 cells; write 7 cells as in the heading");
  says(R"(<timed-as file="own.csv" workload="resnet-50"/>)", "cannot be combined with workload; remove one of the two");
  says(R"(<timed-as workload="resnet-50" steps="5" epochs="5"/>)",
       "epochs=\"5\" of <timed-as> cannot be combined with steps");
  says(R"(<timed-as workload="bert-base" epochs="5"/>)", "needs a workload with a data set size; steps");
  says(R"(<timed-as file="own.csv" epochs="5"/>)", "set 'steps', or 'samples-per-epoch' in the workload file (as XML)");
  says(R"(<timed-as workload="resnet-50" target="x"/>)", "add steps, epochs, samples or tokens");
  says(R"(<timed-as steps="5"/>)", "steps=\"5\" of <timed-as> needs a workload or a file");
  says(R"(<timed-as workload="resnet-50" evaluation-every="5"/>)", "<timed-as> lacks 'evaluation-seconds'");
  says(R"(<timed-as workload="resnet-50" start-up="-1s"/>)", "start-up=\"-1s\" of <timed-as>");
  says(R"(<timed-as workload="resnet-50" steps="0"/>)", "steps=\"0\" of <timed-as> is out of range");
  EXPECT_EQ(error_of(R"(<timed-as batch="5" precision="tf32"/>)"), "") << "the network that learns, otherwise";
}

}  // namespace
}  // namespace dadsim::test
