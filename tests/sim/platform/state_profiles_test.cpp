#include "sim/platform/state_profiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/platform.hpp"
#include "sim/star.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::sim {
namespace {

using spec::StateProfileSpec;
using test::platform_file;
using test::platform_xml;

/// Returns two hosts and a line with these attributes, and elements before and after the zone.
std::string two_hosts(const std::string& of_host, const std::string& of_link, const std::string& beside = "") {
  return platform_xml("<host id=\"north\" speed=\"1Gf\"" + of_host +
                          "/>\n<host id=\"south\" speed=\"1Gf\"/>\n"
                          "<link id=\"line\" bandwidth=\"1Gbps\" latency=\"1ms\"" +
                          of_link + "/>\n<route src=\"north\" dst=\"south\"><link_ctn id=\"line\"/></route>",
                      "Full", "", beside);
}

class StateProfilesOfFiles : public testing::Test {
 protected:
  std::vector<StateProfileSpec> profiles(const std::string& content) const {
    return state_profiles(platform_file(folder_.write("platform.xml", content)));
  }
  PlatformFindings check(const std::string& content) const {
    return check_platform(platform_file(folder_.write("platform.xml", content)), {"north", "south"}, {{0, 1}});
  }
  std::string first_error(const std::string& content) const {
    const PlatformFindings findings = check(content);
    return findings.file_errors.empty() ? "accepted" : to_string(findings.file_errors.front());
  }
  test::TemporaryFolder folder_;
};

TEST_F(StateProfilesOfFiles, AreReadAsSimGridWritesThem) {
  folder_.write("north.txt", "# off for a while\n10.0 0\n20.0 1\n% again\nLOOPAFTER 5\n");
  folder_.write("line.txt", "PERIODICITY 60\n\n30 -1.0\n40 1.0\n");
  const std::string content =
      two_hosts(" state_file=\"north.txt\"", "\n  state_file='line.txt' sharing_policy=\"SPLITDUPLEX\"",
                "<trace id=\"once\" periodicity=\"-1\">\n1 0\n2 1\n</trace>\n"
                "<trace_connect kind=\"HOST_AVAIL\" trace=\"once\" element=\"south\"/>\n");
  const std::vector<StateProfileSpec> expected = {
      {.name = "north", .changes = {{10, false}, {20, true}}, .period = 25},
      {.links = true, .name = "line_UP", .changes = {{30, false}, {40, true}}, .period = 60},
      {.links = true, .name = "line_DOWN", .changes = {{30, false}, {40, true}}, .period = 60},
      {.name = "south", .changes = {{1, false}, {2, true}}}};
  EXPECT_EQ(profiles(content), expected);
}

TEST_F(StateProfilesOfFiles, AreKeptFromSimGridAndOtherProfilesAreNot) {
  folder_.write("north.txt", "0.0 0\n");
  folder_.write("slow.txt", "1.0 0.5\n");
  const std::string content = two_hosts(" state_file=\"north.txt\" speed_file=\"slow.txt\"", "",
                                        "<!-- <trace_connect trace=\"none\"/> > -->\n"
                                        "<trace id=\"t\" periodicity=\"-1\">\n1 0\n</trace>\n"
                                        "<trace_connect\n kind=\"LINK_AVAIL\" trace=\"t\" element=\"line\"/>\n");
  const PlatformFindings findings = check(content);  // SimGrid loads the file, finds the files of its folder, and has
                                                     // all routes
  EXPECT_TRUE(findings.file_errors.empty()) << to_string(findings.file_errors.at(0));
  EXPECT_EQ(findings.host_errors, (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(findings.route_errors.empty());
  EXPECT_TRUE(varies_over_time(platform_file(folder_.path("platform.xml"))));

  const std::string kept = without_state_profiles(content);
  EXPECT_EQ(kept.find("state_file"), std::string::npos);
  EXPECT_NE(kept.find("<!-- <trace_connect trace=\"none\"/> > -->"), std::string::npos);
  EXPECT_EQ(kept.find("LINK_AVAIL"), std::string::npos);
  EXPECT_NE(kept.find("speed_file=\"slow.txt\""), std::string::npos);
  EXPECT_EQ(std::ranges::count(kept, '\n'), std::ranges::count(content, '\n'));
}

TEST_F(StateProfilesOfFiles, DoNotMakeAPlatformVaryForSteps) {
  folder_.write("north.txt", "5.0 0\n6.0 1\nLOOPAFTER 1\n");
  folder_.write("platform.xml", two_hosts(" state_file=\"north.txt\"", ""));
  EXPECT_FALSE(varies_over_time(platform_file(folder_.path("platform.xml"))));
}

TEST_F(StateProfilesOfFiles, WhatSimGridFindsHasTheLineOfTheUsersFile) {
  folder_.write("north.txt", "5.0 0\n");
  const std::string wrong = two_hosts("\nstate_file=\"north.txt\"\n", " bandwith=\"1Gbps\"");
  EXPECT_TRUE(first_error(wrong).starts_with(folder_.path("platform.xml") + ":9: Invalid XML")) << first_error(wrong);
}

TEST_F(StateProfilesOfFiles, FaultsHaveTheirPlaceAndSayWhatWouldBeRight) {
  struct Case {
    std::string lines, error;
  };
  const std::string file = folder_.path("north.txt");
  for (const auto& [lines, error] :
       std::vector<Case>{{"10 0\n20 on\n", ":2: this is not a line of a state profile; write a date in seconds"},
                         {"10 0 1\n", ":1: this is not a line"},
                         {"-1 0\n", ":1: this is not a line"},
                         {"10 0\n\n5 1\n", ":3: the date 5 comes after 10; sort lines by date"},
                         {"PERIODICITY\n10 0\n", ":1: PERIODICITY without seconds"},
                         {"PERIODICITY 5\n10 0\n", ":1: a period of 5 s ends before the last date, 10"},
                         {"PERIODICITY 50\nLOOPAFTER 2\n10 0\n", ":2: PERIODICITY and LOOPAFTER"},
                         {"0 0\nLOOPAFTER 0\n", ":2: the profile repeats after 0 s"},
                         {"STOCHASTIC\nEXP 1 DET 0\n", ":1: 'STOCHASTIC' is a random state profile; use <fails"}}) {
    folder_.write("north.txt", lines);
    const std::string found = first_error(two_hosts(" state_file=\"north.txt\"", ""));
    EXPECT_TRUE(found.starts_with(file + error)) << found;
  }
  const std::string platform = folder_.path("platform.xml");
  EXPECT_TRUE(first_error(two_hosts(" state_file=\"nowhere.txt\"", ""))
                  .starts_with(platform + ":5: there is no file 'nowhere.txt' with a state profile"));
  const auto connected = [](const std::string& trace, const std::string& element) {
    return two_hosts("", "",
                     "<trace id=\"t\">\n1 0\noops\n</trace>\n<trace_connect kind=\"HOST_AVAIL\" trace=\"" + trace +
                         "\" element=\"" + element + "\"/>\n");
  };
  EXPECT_TRUE(first_error(connected("u", "north")).starts_with(platform + ":14: there is no <trace id=\"u\">"));
  EXPECT_TRUE(first_error(connected("t", "nroth")).starts_with(platform + ":14: there is no host 'nroth'"));
  EXPECT_TRUE(
      first_error(connected("t", "north")).starts_with(platform + ":12: this is not a line of a state profile"));
}

TEST(StateProfileText, IsCopiedAsItIsFromWhereItIsNotWellFormed) {
  for (const std::string& text :
       {std::string("<platform><trace_connect trace=\"t\" kin\" a=\"b\"/>\n<d=\"SPEED\" element=\"hub\"/>"),
        std::string("<platform></trace_connect"), std::string("<platform><host id=\"a\" state_file=\"b"),
        std::string("<platform"), std::string("<a><b></a><c state_file=\"d\"/>")}) {
    EXPECT_EQ(without_state_profiles(text), text);
  }
}

}  // namespace
}  // namespace dadsim::sim
