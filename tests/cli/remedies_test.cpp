// Applies the program's remedies literally: puts the text of the message in its place, and expects that the program
// accepts it. tests/scenario/remedies_test.cpp tests values of attributes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <regex>
#include <sstream>

#include "cli/process.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::replaced;
using test::TemporaryFolder;

const std::string kHub = R"(<aggregator host="hub" device="rtx-3090"/>)";
/// Returns a scenario of three sites with unequal lines and a table given by `data`.
std::string scenario_of(const std::string& data, const std::string& more = {}, const std::string& hub = kHub) {
  return R"(<scenario name="Remedies" seed="3">
  <platform><federation><sites name="s" count="3" up="10Mbps" down="50Mbps" latency="8ms"/></federation></platform>
  <workers><worker hosts="s-[1-3]" device="rtx-3090"/>)" +
         hub + "</workers>\n  <data>" + data + R"(<split by="dirichlet" alpha="0.5"/></data>
  <model><dense units="10"/></model>
  <training batch="4" epochs="1" target-accuracy="0.2"><sgd learning-rate="0.1"/></training>
  )" + more +
         R"(<run algorithm="gradient-sharing"/><run algorithm="rank-dad" cap="2"/>
</scenario>
)";
}

/// Returns this scenario with a table of two classes and ten training rows.
std::string scenario_of_table() {
  const std::string ten = scenario_of(R"(<csv file="t.csv" target="kind"/>)");
  return replaced(replaced(ten, "units=\"10\"", "units=\"2\""), "batch=\"4\"", "batch=\"2\"");
}
const std::string kDigits = R"(<digits train="60" test="20"/>)";

/// Returns a table of twelve rows and two classes, with numbers formatted by `number`.
std::string table_of(const std::function<std::string(int)>& number, char separator = ',') {
  std::string text = std::string("size") + separator + "kind\n";
  for (int i = 0; i < 12; ++i) text += number(i) + separator + (i % 3 == 0 ? "oak" : "elm") + '\n';
  return text;
}

class Remedy : public testing::Test {
 protected:
  test::Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder.path());
  }
  /// Runs a command that must be refused. Returns the part of the message that `named` captures.
  std::string refused(const std::vector<std::string>& arguments, int exit_code, const std::string& named) const {
    const test::Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    std::smatch found;
    EXPECT_TRUE(std::regex_search(outcome.err, found, std::regex(named))) << named << "\nin " << outcome.err;
    return found.empty() ? std::string() : found[found.size() > 1 ? 1 : 0].str();
  }
  void accepted(const std::vector<std::string>& arguments) const {
    const test::Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
  }

  TemporaryFolder folder;
};

TEST_F(Remedy, NamesACommandForAFile) {
  folder.write("a.xml", scenario_of(kDigits));
  const std::string file =
      refused({"simulate", "a.xml", "--check"}, 2, "there is no command 'simulate'; dadsim (.*) runs");
  accepted({file, "--check"});
  const std::string option = refused({"a.xml", "\u2013check"}, 2, "begins with a dash; write (--[a-z]+)");
  accepted({"a.xml", option});
}

TEST_F(Remedy, NamesThePlaceOfAPlatformInAScenario) {
  folder.write("p.xml", test::read_file(std::filesystem::path(DADSIM_SOURCE_DIR) / "platforms" / "hospitals.xml"));
  const std::string element = refused({"p.xml"}, 3, "use it in a scenario: (<.*>)\n");
  folder.write("a.xml", replaced(test::fixture(), R"(<platform file="@PLATFORM@"/>)", element));
  accepted({"a.xml", "--check"});
}

TEST_F(Remedy, ConvertsATableOfUtf16) {
  const std::string table = table_of([](int i) { return std::to_string(7 * i % 5); });
  std::string wide = "\xFF\xFE";
  for (const char c : table) wide += {c, '\0'};
  folder.write("t.csv", wide);
  folder.write("a.xml", scenario_of_table());
  const std::string command = refused({"a.xml", "--check"}, 3, "is UTF-16; save it as UTF-8: (iconv .*) > NEW");
  ASSERT_EQ(std::system((command + " > " + folder.path("new.csv")).c_str()), 0);
  EXPECT_EQ(test::read_file(folder.path("new.csv")), table);
  accepted({"a.xml", "--check", "--set", "data.csv.file=new.csv"});
}

TEST_F(Remedy, TellsOfDecimalCommasInQuotes) {
  const auto with = [](char point) {
    return [point](int i) { return std::string("\"") + std::to_string(i % 4) + point + "5\""; };
  };
  folder.write("t.csv", table_of(with(',')));
  folder.write("a.xml", scenario_of_table());
  const std::string remedy =
      refused({"a.xml", "--check"}, 0,
              "t.csv:2: 1 column of numbers with a decimal comma, e.g. '0,5', is read as words; (.*)\n");
  EXPECT_EQ(remedy, "write decimal points, or separate fields by semicolons");
  folder.write("t.csv", table_of(with('.')));
  accepted({"a.xml", "--check"});
  folder.write("t.csv", table_of(with(','), ';'));
  accepted({"a.xml", "--check"});
}

TEST_F(Remedy, AsksForWholeNumbersOfARange) {
  const std::string goal = R"(<goal within="1h"><allow path="training.batch" from="2" to="6"/></goal>)";
  folder.write("a.xml", scenario_of(kDigits, goal));
  const std::string attribute =
      refused({"plan", "a.xml"}, 3, "a.xml:7: training.batch=.* add (whole=\"true\") to this");
  folder.write("a.xml", scenario_of(kDigits, replaced(goal, "<allow ", "<allow " + attribute + ' ')));
  accepted({"plan", "a.xml", "--quiet"});
  const std::string sweep = R"(<sweep><vary path="run[rank-dad].cap" from="1" to="4" steps="3"/></sweep>)";
  folder.write("s.xml", scenario_of(kDigits, sweep));
  refused({"sweep", "s.xml", "--check"}, 3, "s.xml:7: run\\[rank-dad\\].cap=2.5: .* add whole=\"true\" to this");
  folder.write("s.xml", scenario_of(kDigits, replaced(sweep, "<vary ", "<vary " + attribute + ' ')));
  accepted({"sweep", "s.xml", "--check"});
}

TEST_F(Remedy, ListsNumbersThatDivide) {
  folder.write("a.xml", R"(<scenario name="Divided">
  <platform><gpu-cluster nodes="2" gpus="4" inside="nvlink-4" nic="ib-ndr"/></platform>
  <workers memory="ignore"><worker hosts="gpu-[0-7]" device="h100-sxm5"/></workers>
  <timing-only/>
  <timed-as workload="gpt-2-small" batch="8" precision="bf16"/>
  <run algorithm="gradient-sharing"/>
</scenario>
)");
  for (const std::string attribute : {"tensor", "context", "pipeline", "micro-batch"}) {
    const std::string path = "timed-as." + attribute + '=';
    const std::string numbers = refused({"a.xml", "--check", "--set", path + "5"}, 3, "use " + attribute + "=(.*)\n");
    const std::regex quoted("\"([0-9]+)\"");
    std::size_t count = 0;
    for (std::sregex_iterator one(numbers.begin(), numbers.end(), quoted), end; one != end; ++one, ++count)
      accepted({"a.xml", "--check", "--set", path + (*one)[1].str()});
    EXPECT_GT(count, 1U) << attribute;
  }
}

TEST_F(Remedy, NamesTheAggregatorThatIsMissing) {
  folder.write("a.xml", scenario_of(kDigits, {}, ""));
  const std::string element =
      refused({"a.xml", "--check"}, 0, "in rank-dad every site sends to every other; add (<.*/>) to");
  folder.write("a.xml", scenario_of(kDigits, {}, element));
  accepted({"a.xml", "--check"});
}

TEST_F(Remedy, TellsOfOutagesWithoutAnEnd) {
  const auto with = [&](const std::string& times) {
    return scenario_of(kDigits, "<failures><outage hosts=\"s-1\" " + times + "/></failures>");
  };
  folder.write("a.xml", with("from=\"1s\" for=\"9h\""));
  refused({"a.xml"}, 0, "the outage of 's-1' begins after 1.00 s, but the longest run takes");
  folder.write("a.xml", with("from=\"0s\" for=\"9h\""));
  refused({"a.xml"}, 0, "the outage of 's-1' lasts 9.00 h, but the longest run takes");
  folder.write("a.xml", with("from=\"0s\" for=\"1ms\""));
  accepted({"a.xml"});
}

TEST_F(Remedy, BlamesTheOptionThatIsWrong) {
  folder.write("a.xml", scenario_of(kDigits));
  refused({"compare", "a.xml", "--against", "foo=2"}, 2, "^--against foo=2: unknown attribute 'foo'");
  refused({"compare", "a.xml", "--set", "foo=2", "--against", "training.batch=2"}, 2, "^--set foo=2: unknown");
  refused({"a.xml", "--seed", "foo"}, 2, "^dadsim: --seed 'foo' is no seed");
  refused({"a.xml", "--set", "training.batch=0"}, 2, "^--set training.batch=0: ");
  refused({"train", "gpt-2-small", "--gpus", "8", "--device", "nonsense"}, 2,
          "--device: .* `dadsim devices` lists all");
  accepted({"devices"});
  const std::string names =
      refused({"a.xml", "--set", "run[nosuch].cap=4"}, 2, "no <run> is called 'nosuch'; one of (.*)\n");
  EXPECT_EQ(names, "gradient-sharing, rank-dad") << "each once";
  for (const char* ranks : {"1", "0"})
    refused({"collective", "--platform", "a.xml", "--op", "all-reduce", "--ranks", ranks}, 2, "from 2 to");
  accepted({"collective", "--platform", "a.xml", "--op", "all-reduce", "--sizes", "1KB", "--ranks", "2"});
}

TEST_F(Remedy, CountsSizesOfCollectivesOnce) {
  folder.write("a.xml", scenario_of(kDigits));
  const auto diagnosed = [&](const std::string& size) {
    return dadsim({"diagnose", "a.xml", "--bus-bandwidth", "1MBps", "--size", size, "--json", "-"}).out;
  };
  const std::string binary = diagnosed("1MB");
  EXPECT_FALSE(binary.empty());
  EXPECT_EQ(binary, diagnosed("1048576"));
  EXPECT_NE(binary, diagnosed("1000000"));
}

}  // namespace
}  // namespace dadsim::cli
