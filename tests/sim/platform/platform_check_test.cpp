#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

using test::platform_file;
using test::platform_xml;
using test::Star;
using test::TemporaryFile;

const std::string hosts = "<host id=\"north\" speed=\"1Gf\"/>\n<host id=\"south\" speed=\"1Gf\"/>\n";  // lines 5 and 6
const std::string link = "<link id=\"line\" bandwidth=\"1Gbps\" latency=\"1ms\"/>\n";                  // line 7
const std::string route = "<route src=\"north\" dst=\"south\"><link_ctn id=\"line\"/></route>";

PlatformFindings check(const std::string& content, const std::vector<std::string>& workers = {"north", "south"}) {
  const TemporaryFile file(content);
  PlatformFindings findings = check_platform(platform_file(file.path()), workers, {{0, 1}});
  for (Diagnostic& diagnostic : findings.file_errors) {
    EXPECT_EQ(diagnostic.file, file.path());
    diagnostic.file = "FILE";
  }
  return findings;
}

std::string first_file_error(const std::string& content) {
  const PlatformFindings findings = check(content);
  EXPECT_TRUE(findings.route_errors.empty());
  return findings.file_errors.empty() ? std::string{} : to_string(findings.file_errors.front());
}

/// Expects one error of the file: its text begins with `begin`, and its remedy contains `remedy`.
void expect_file_error(const std::string& content, const std::string& begin, const std::string& remedy) {
  const std::string error = first_file_error(content);
  EXPECT_TRUE(error.starts_with(begin)) << error << "\nexpected: " << begin;
  EXPECT_NE(error.find(remedy), std::string::npos) << error << "\nexpected: " << remedy;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_EQ(error.find("libsimgrid"), std::string::npos) << error;
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos);
  return text.erase(at, part.size());
}

TEST(PlatformCheck, PropertiesOfLinksSayWhatTheyCan) {
  const auto with = [](const std::string& key, const std::string& value) {
    return platform_xml(hosts + "<link id=\"line\" bandwidth=\"1Gbps\" latency=\"1ms\"><prop id=\"" + key +
                        "\" value=\"" + value + "\"/></link>\n" + route);
  };
  for (const auto& [key, value, remedy] :
       {std::tuple("transport", "smoke", "plain, tcp, rdma or nvlink"),
        std::tuple("measured", "yes", "wire or goodput"), std::tuple("efficiency", "2", "at most 1"),
        std::tuple("queue", "300 kB", "a number above 0"), std::tuple("in-cluster", "yes", "true or false")}) {
    expect_file_error(with(key, value), "FILE: link 'line' ", remedy);
  }
  EXPECT_EQ(first_file_error(with("transport", "rdma")), "");
  EXPECT_EQ(first_file_error(with("efficiency", "0.9")), "");
}

TEST(PlatformCheck, AGoodPlatformHasNoFindings) {
  const PlatformFindings findings = check(platform_xml(hosts + link + route));
  EXPECT_TRUE(findings.file_errors.empty());
  EXPECT_EQ(findings.host_errors, (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(findings.route_errors.empty());
}

TEST(PlatformCheck, CommentsAreNotRead) {
  EXPECT_EQ(first_file_error(platform_xml("<!-- <config> <trace> speed_file=\"x\" -->\n" + hosts + link + route)), "");
}

TEST(PlatformCheck, WhatIsNoFile) {
  const auto error = [](const std::string& path) {
    const PlatformFindings findings = check_platform(platform_file(path), {}, {});
    return findings.file_errors.empty() ? std::string{} : to_string(findings.file_errors.front());
  };
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(error("/no/such/platform.xml"),
            "/no/such/platform.xml: cannot read the platform: No such file or directory; give the path of a SimGrid "
            "platform file");
  EXPECT_EQ(error(folder), folder + ": this is a folder; give the path of a SimGrid platform file");
  EXPECT_EQ(error("/dev/zero"), "/dev/zero: this is not a regular file; give the path of a SimGrid platform file");
  const TemporaryFile library(platform_xml(hosts), ".so");
  EXPECT_EQ(
      error(library.path()),
      library.path() + ": this is the name of a program library; give the path of a SimGrid platform file in XML");
  const TemporaryFile huge("<platform>");
  std::filesystem::resize_file(huge.path(), 65U << 20U);
  EXPECT_EQ(error(huge.path()), huge.path() + ": the file has 65 MB; use at most 64 MB");
}

TEST(PlatformCheck, WhatIsNoPlatform) {
  const std::string begins = "platform begins with <platform version=\"4.1\">";
  expect_file_error("", "FILE: the file is empty", begins);
  expect_file_error("hosts: 3\n", "FILE:1: this is not XML", begins);
  expect_file_error("  \n", "FILE:1: this is not XML", begins);
  expect_file_error(std::string("<platform>\0</platform>", 22), "FILE: the file contains NUL bytes", "UTF-8");
  expect_file_error(platform_xml("<host id=\"caf\xe9\" speed=\"1Gf\"/>"), "FILE: the file is not UTF-8", "UTF-8");
  expect_file_error("<html>\n</html>", "FILE:1: the outermost element is <html>", begins);
  expect_file_error(
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n</platform>",
      "FILE: the platform has no <zone>", "hosts, links and routes");
  const std::string good = platform_xml(hosts + link + route);
  expect_file_error(without(good, "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"),
                    "FILE:3: the DOCTYPE is missing", "simgrid.dtd");
  expect_file_error(without(good, " version=\"4.1\""), "FILE:3: the platform gives no version", "4.1");
  std::string old = good;
  old.replace(old.find("version=\"4.1\""), 13, "version=\"3\"  ");
  expect_file_error(old, "FILE:3: this is a platform of version '3'", "simgrid_update_xml");
}

TEST(PlatformCheck, EntitiesAreRefused) {
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE platform [\n<!ENTITY a \"aaaaaaaaaa\">\n";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb += "<!ENTITY " + std::string(1, c) + " \"";
    for (int i = 0; i < 10; ++i) bomb += "&" + std::string(1, static_cast<char>(c - 1)) + ";";
    bomb += "\">\n";
  }
  bomb += "]>\n<platform version=\"4.1\">&j;</platform>\n";
  expect_file_error(bomb, "FILE:2: the DOCTYPE is not that of a SimGrid platform, or defines entities", "simgrid.dtd");
  expect_file_error("<!DOCTYPE platform SYSTEM \"file:///etc/passwd\">\n<platform version=\"4.1\"/>",
                    "FILE:1: the DOCTYPE is not that of a SimGrid platform", "simgrid.dtd");
  expect_file_error(
      "<!DOCTYPE platform SYSTEM \"simgrid.dtd\" [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n"
      "<platform version=\"4.1\">&x;</platform>",
      "FILE:1: the DOCTYPE is not that of a SimGrid platform", "simgrid.dtd");
}

TEST(PlatformCheck, WhatSimGridRefusesIsPassedOnWithItsLine) {
  const std::string reference = "see SimGrid's platform reference";
  expect_file_error(platform_xml(hosts + "<link id=\"line\" bandwith=\"1Gbps\"/>\n" + route), "FILE:7: Invalid XML",
                    "`bandwith'");
  expect_file_error(platform_xml(hosts + "<link id=\"line\" latency=\"1ms\"/>\n" + route), "FILE:7: Invalid XML",
                    "`bandwidth'");
  expect_file_error(platform_xml("<host id=\"north\"/>\n"), "FILE:5: Invalid XML", "`speed'");
  expect_file_error(platform_xml(hosts + "<link id=\"line\" bandwidth=\"1Gbqs\" latency=\"1ms\"/>\n" + route),
                    "FILE:7: unknown unit: Gbqs", reference);
  expect_file_error(platform_xml("<host id=\"north\" speed=\"1Gf\" core=\"x\"/>"), "FILE:5: x is not an int",
                    reference);
  expect_file_error(platform_xml("<host id=\"north\" speed=\"1Gf\" core=\"0\"/>"),
                    "FILE: Host north must have at least one core", reference);
  expect_file_error(platform_xml(hosts + link + "<route src=\"north\" dst=\"west\"><link_ctn id=\"line\"/></route>"),
                    "FILE:8: Route dst='west'", reference);
  expect_file_error(platform_xml(hosts + link + "<route src=\"north\" dst=\"south\"><link_ctn id=\"other\"/></route>"),
                    "FILE: Link not found: other", reference);
  expect_file_error(platform_xml(hosts + link + "<route src=\"north\" dst=\"south\"></route>"), "FILE: Empty route",
                    reference);
  expect_file_error(platform_xml(hosts + hosts + link + route), "FILE: Refusing to create a second host named 'north'",
                    reference);
  expect_file_error(platform_xml(hosts + link + link + route), "FILE: Link 'line' declared several times", reference);
  expect_file_error(platform_xml(hosts + link + route, "Fool"), "FILE: Not a valid model!", reference);
  expect_file_error(platform_xml("<banana/>"), "FILE:5: Invalid XML", reference);
}

// SimGrid's parser accepts text that is not well-formed XML and ends there, so the rest would stay unchecked.
TEST(PlatformCheck, WhatIsNotWellFormedNeverReachesSimGrid) {
  const std::string form = "a platform is well-formed XML 1.0";
  expect_file_error(platform_xml(hosts + link + "<route src=\"north\""), "FILE:9: this is not XML: ", form);
  expect_file_error(platform_xml(hosts + link + route + "</host>"), "FILE:8: this is not XML: Opening and ending",
                    form);
  const std::string traced = "<config><prop id=\"tracing\" value=\"yes\"/></config>\n";
  expect_file_error(platform_xml("<!-- a -- b -->\n" + hosts, "Full", "<prop id=\"a\" id=\"a\" value=\"b\"/>" + traced),
                    "FILE:4: this is not XML: ", form);
  std::string disguised = platform_xml(hosts, "Full", traced);
  disguised.replace(disguised.find("version=\"1.0\""), 13, "version=\"1.0\" encoding=\"UTF-7\"");
  expect_file_error(disguised, "FILE:4: <config> sets 'tracing'", "remove it");
}

// A <config> with tracing/filename must not overwrite files, even under --check.
TEST(PlatformCheck, APlatformWritesNoFile) {
  const TemporaryFile victim("mine");
  const auto option = [](const std::string& id, const std::string& value) {
    return "<prop id=\"" + id + "\" value=\"" + value + "\"/>";
  };
  const auto with = [&](const std::string& options) {
    return platform_xml(hosts + link + route, "Full", "<config>" + options + "</config>\n");
  };
  const std::string trace = option("tracing", "yes") + option("tracing/platform", "yes");
  for (const std::string& content :
       {with(option("tracing/filename", victim.path())), with(trace + option("tracing/filename", victim.path())),
        with(option("maxmin/concurrency-limit", "10,tracing:yes,tracing/filename:" + victim.path())),
        with(option("maxmin/concurrency-limit", "10 tracing:yes")), with(option("maxmin/precision", "0.1")),
        with(option("path", "/etc")), with(option("plugin", "host_energy")), with(option("smpi/map", "1")),
        with(option("debug/breakpoint", "0")), with(option("tracing&#47;filename", victim.path())),
        with(option("maxmin/concurrency-limit", "1.5"))}) {
    const PlatformFindings findings = check(content);
    ASSERT_FALSE(findings.file_errors.empty()) << content;
    EXPECT_EQ(findings.file_errors.front().line, 4);
    EXPECT_TRUE(findings.file_errors.front().what.starts_with("<config> sets '")) << findings.file_errors.front().what;
    std::ifstream in(victim.path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
  }
}

// A host id with a line break could inject text into the file of tracing/filename.
TEST(PlatformCheck, NamesThatCannotBeSeenAreRefused) {
  for (const char* hidden : {"&#10;", "&#13;", "&#x9b;", "&#x202e;", "&#x200b;"}) {
    expect_file_error(platform_xml("<host id=\"a" + std::string(hidden) + "b\" speed=\"1Gf\"/>"),
                      "FILE:5: the id of <host>, 'a\\", "a name of letters");
  }
  // XML reads a line break in an attribute as a blank, but SimGrid keeps it.
  expect_file_error(platform_xml("<host id=\"a\nb\" speed=\"1Gf\"/>"),
                    "FILE: the name of host 'a\\x0ab' has invisible characters", "");
}

// Hosts of a cluster are counted before SimGrid builds the cluster.
TEST(PlatformCheck, HostsAreCountedBeforeTheyAreBuilt) {
  const auto cluster = [](const std::string& more) {
    return platform_xml("<cluster id=\"c\" prefix=\"c-\" suffix=\"\" speed=\"1Gf\" bw=\"1Gbps\" lat=\"1ms\" " + more +
                        "/>");
  };
  const std::string most = "at most 100,000";
  expect_file_error(cluster("radical=\"0-2147483646\""), "FILE:5: 2,147,483,647 hosts so far", most);
  expect_file_error(cluster("radical=\"0-99999,7,100001-100002\""), "FILE:5: 100,003 hosts so far", most);
  expect_file_error(cluster("radical=\"0-3\" topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,1000000000;1,1\""),
                    "FILE:5: topo_parameters=\"2;2,2;1,1000000000;1,1\" makes 3e+09 switches and links",
                    "at most 4e+06");
  EXPECT_EQ(first_file_error(cluster("radical=\"0-3\" topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,2;1,1\"")), "");
  std::string many;
  for (int i = 0; i < 16000; ++i) many += "<router id=\"r" + std::to_string(i) + "\"/>";
  expect_file_error(platform_xml(many), "FILE:4: the routes of a zone with routing=\"Full\" and 16,000 hosts", "zones");
  // Routing tables of all zones and switches of all clusters count towards the limit of one platform.
  std::string zones;
  for (int zone = 0; zone < 2; ++zone) {
    zones += "<zone id=\"z" + std::to_string(zone) + "\" routing=\"Full\">";
    for (int i = 0; i < 12'000; ++i)
      zones += "<host id=\"h" + std::to_string(zone) + "-" + std::to_string(i) + "\" speed=\"1Gf\"/>";
    zones += "</zone>";
  }
  expect_file_error(
      platform_xml(zones),
      "FILE:5: the routes of a zone with routing=\"Full\" and 12,000 hosts, routers and zones take 2.30 GB "
      "with those of the zones before it",
      "divide the zone");
}

// A name of 47 kB in a SimGrid error once crashed std::regex and the process.
TEST(PlatformCheck, LongNames) {
  const std::string name(200'000, 'x');
  const PlatformFindings findings =
      check(platform_xml(hosts + "<link id=\"" + name + "\" bandwidth=\"1Gbqs\"/>" + route));
  EXPECT_FALSE(findings.file_errors.empty());
  const PlatformFindings twice = check(platform_xml(hosts + link + "<link id=\"" + name + "\" bandwidth=\"1Gbps\"/>" +
                                                    "<link id=\"" + name + "\" bandwidth=\"1Gbps\"/>"));
  EXPECT_FALSE(twice.file_errors.empty());
}

// The number of changes per simulated second of a profile is limited.
TEST(PlatformCheck, ProfilesThatNeverEndAreRefused) {
  // SimGrid searches a profile's file in the platform's folder and accepts no absolute path.
  const auto name_of = [](const TemporaryFile& file) { return std::filesystem::path(file.path()).filename().string(); };
  const TemporaryFile quick("0.0 125000000\n1e-9 62500000\nLOOPAFTER 1e-9\n", ".txt");
  const auto with = [&](const std::string& path) {
    return platform_xml(hosts + "<link id=\"line\" bandwidth=\"1Gbps\" latency=\"1ms\" bandwidth_file=\"" + path +
                        "\"/>\n" + route);
  };
  expect_file_error(with(name_of(quick)), "FILE:7: the profile of 'line' has 1e+09 changes per simulated second",
                    "a longer LOOPAFTER");
  const TemporaryFile slow("0.0 125000000\n1.0 62500000\nLOOPAFTER 1.0\n", ".txt");
  EXPECT_EQ(first_file_error(with(name_of(slow))), "");
  expect_file_error(
      platform_xml(hosts + link + route, "Full", "", "<trace id=\"t\" periodicity=\"1e-8\">0.0 1.0\n</trace>"),
      "FILE:10: the profile of 't' has 1e+08 changes", "periodicity");
}

TEST(PlatformCheck, WhatATimedStepCannotFollowIsRefused) {
  expect_file_error(platform_xml("<config><prop id=\"plugin\" value=\"link_energy\"/></config>" + hosts),
                    "FILE:5: <config> sets 'plugin', which a platform may not set", "remove it");
  expect_file_error(platform_xml(hosts + "<actor host=\"north\" function=\"f\"/>"), "FILE:7: <actor> deploys a program",
                    "remove the element");
  expect_file_error(platform_xml(hosts + link + "<trace_connect trace=\"t\" element=\"line\" kind=\"BANDWIDTH\"/>"),
                    "FILE:8: <trace_connect kind=\"BANDWIDTH\"> comes after its link", "write bandwidth_file");
  const PlatformFindings both =
      check(platform_xml("<config><prop id=\"tracing\" value=\"yes\"/></config>\n<host id=\"north\" "
                         "speed=\"1Gf\" state_file=\"no-such-profile\"/>"));
  ASSERT_EQ(both.file_errors.size(), 2U);  // both errors are reported together
  EXPECT_EQ(both.file_errors[1].line, 6);
}

// Platform files of other projects contain options for their own programs.
TEST(PlatformCheck, OptionsThatChangeNothingHereArePassedOverAndNamed) {
  const auto with = [](const std::string& options) {
    return platform_xml(hosts + link + route, "Full", "<config>\n" + options + "</config>\n");
  };
  const TemporaryFile victim("mine");
  for (const std::string option :
       {"network/loopback-bw", "contexts/stack-size", "contexts/guard-size", "host/model", "cpu/model", "disk/model",
        "network/TCP_gamma", "network/latency-factor", "surf/precision", "precision/work-amount", "maxmin/solver",
        "smpi/bw-factor", "storage/max_file_descriptors", "network/no-such-option"}) {
    // The option must not reach SimGrid at all: its value would set another option too.
    const TemporaryFile file(with("<prop id=\"" + option +
                                  "\" value=\"1>,tracing:yes tracing/platform:yes tracing/filename:" + victim.path() +
                                  "\"/>\n<!-- </config> -->\n"));
    const PlatformFindings findings = check_platform(platform_file(file.path()), {"north", "south"}, {{0, 1}});
    EXPECT_TRUE(findings.file_errors.empty() && findings.route_errors.empty()) << option;
    EXPECT_EQ(passed_over_of(platform_file(file.path())),
              std::vector<std::string>{file.path() + ":5: '" + option +
                                       "' of <config> is ignored; dadsim sets or "
                                       "does not use these options (docs/timing.md)"});
    std::ifstream in(victim.path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
  }
  // An allowed option next to an ignored one is still applied, and notes have the line of the file.
  const std::string allowed = "<prop id=\"maxmin/concurrency-limit\" value=\"100\"/>\n";
  const TemporaryFile both(
      with("<prop id=\"host/model\" value=\"x\"/>\n" + allowed + "<prop id='contexts/guard-size' value='0'/>"));
  EXPECT_TRUE(check_platform(platform_file(both.path()), {"north"}, {}).file_errors.empty());
  ASSERT_EQ(passed_over_of(platform_file(both.path())).size(), 1U);
  EXPECT_NE(
      passed_over_of(platform_file(both.path()))[0].find("'host/model', 'contexts/guard-size' of <config> are ignored"),
      std::string::npos);
  const TemporaryFile only(with(allowed));
  EXPECT_TRUE(passed_over_of(platform_file(only.path())).empty());
  expect_file_error(platform_xml(hosts + "<link id=\"line\" bandwidth=\"1Gbqs\" latency=\"1ms\"/>\n", "Full",
                                 "<config><prop id=\"host/model\" value=\"x\"/>\n</config>\n"),
                    "FILE:9: ", "");
}

// Vivaldi coordinates give a route a latency, but no link that could carry bytes.
TEST(PlatformCheck, RoutesOfCoordinatesAloneAreMissing) {
  const PlatformFindings bare =
      check(platform_xml("<host id=\"north\" speed=\"1Gf\" coordinates=\"25.5 9.4 1.4\"/>"
                         "<host id=\"south\" speed=\"1Gf\" coordinates=\"-12.7 -9.9 2.1\"/>",
                         "Vivaldi"));
  ASSERT_EQ(bare.route_errors.size(), 2U);
  EXPECT_EQ(bare.route_errors[0],
            "the route from 'north' to 'south' has a latency but no link; use a <route> with at least one link, or "
            "a <peer> "
            "with bw_in and bw_out in place of a <host> with coordinates");
  const auto peer = [](const char* name) {
    return std::string("<peer id=\"") + name +
           "\" speed=\"1Gf\" coordinates=\"25.5 9.4 1.4\" bw_in=\"1MBps\" bw_out=\"1MBps\"/>";
  };
  const PlatformFindings remedied = check(platform_xml(peer("north") + peer("south"), "Vivaldi"));
  EXPECT_TRUE(remedied.file_errors.empty() && remedied.route_errors.empty());
}

// The message quotes host names with blanks in the form that the attribute `hosts` accepts.
TEST(PlatformCheck, NamesWithBlanksAreProposedAsTheyAreWritten) {
  const PlatformFindings findings =
      check(platform_xml("<host id=\"Edge 1\" speed=\"1Gf\"/><host id=\"Edge 2\" speed=\"1Gf\"/>"), {"Edge"});
  EXPECT_EQ(findings.host_errors.at(0),
            "the platform has no host 'Edge'; did you mean 'Edge 1' or 'Edge 2'? (put a name with blanks in quotation "
            "marks: \"'Edge 1'\")");
}

TEST(PlatformCheck, OptionsThatDadsimLeavesAloneAreThePlatformsOwn) {
  EXPECT_EQ(first_file_error(platform_xml(hosts + link + route, "Full",
                                          "<config><prop id=\"maxmin/concurrency-limit\" value=\"1000\"/></config>\n")),
            "");
}

TEST(PlatformCheck, ProfilesOverTimeAreNoticed) {
  const std::string profile = "<trace id=\"t\" periodicity=\"2.0\">0 1.0\n1 0.5\n</trace>";
  const auto attached = [&](const std::string& kind) {
    return platform_xml(hosts + link + route, "Full", "",
                        profile + "<trace_connect kind=\"" + kind + "\" trace=\"t\" element=\"north\"/>");
  };
  EXPECT_EQ(first_file_error(attached("SPEED")), "");
  EXPECT_TRUE(varies_over_time(platform_file(TemporaryFile(attached("SPEED")).path())));
  // Neither a host's availability nor a profile without a target changes the time of a step.
  EXPECT_FALSE(varies_over_time(platform_file(TemporaryFile(attached("HOST_AVAIL")).path())));
  EXPECT_FALSE(
      varies_over_time(platform_file(TemporaryFile(platform_xml(hosts + link + route, "Full", "", profile)).path())));
  EXPECT_TRUE(varies_over_time(
      platform_file(TemporaryFile(platform_xml("<host id=\"north\" speed=\"1Gf\"\n speed_file=\"x\"/>")).path())));
  EXPECT_FALSE(
      varies_over_time(platform_file(TemporaryFile(platform_xml("<!-- <trace> -->" + hosts + link + route)).path())));
}

TEST(PlatformCheck, HostsThatAreNotThere) {
  const std::string content = platform_xml(hosts + link + route);
  EXPECT_EQ(check(content, {"north", "sought"}).host_errors[1],
            "the platform has no host 'sought'; did you mean 'south'?");
  EXPECT_EQ(check(content, {"qqqqqqq", "south"}).host_errors[0],
            "the platform has no host 'qqqqqqq'; one of north, south");
  EXPECT_EQ(check(platform_xml(""), {"a", "b"}).host_errors[0],
            "the platform has no host 'a'; the platform has no hosts");
  const TemporaryFile large(Star{.workers = 30}.xml());
  EXPECT_EQ(check_platform(platform_file(large.path()), {"qqqqqqq"}, {}).host_errors[0],
            "the platform has no host 'qqqqqqq'; the platform has 31 hosts, from hub to w9");
}

TEST(PlatformCheck, MoreWorkersThanCores) {
  const std::string content = platform_xml(hosts + link + route);
  const std::string error = "host 'north' has 1 core and 2 workers; set core=\"2\" in the platform or use other hosts";
  EXPECT_EQ(check(content, {"north", "north"}).host_errors, (std::vector<std::string>{error, ""}));
  const PlatformFindings wide =
      check(platform_xml("<host id=\"north\" speed=\"1Gf\" core=\"2\"/>"), {"north", "north"});
  EXPECT_EQ(wide.host_errors, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(
      check(platform_xml("<host id=\"north\" speed=\"1Gf\" core=\"2\"/>"), {"north", "north", "north"}).host_errors[0],
      "host 'north' has 2 cores and 3 workers; set core=\"3\" in the platform or use other hosts");
  EXPECT_EQ(check(platform_xml("<host id=\"north\" speed=\"0f\"/>" + link), {"north", "north"}).host_errors.size(), 2U);
}

TEST(PlatformCheck, ADeclaredClusterHasNoCoresToSet) {
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(4, 1, *find_link("nvlink-4"), *find_link("ib-ndr"));
  const std::string error =
      "host 'gpu-0' has 1 core and 2 workers; use one host per worker; nodes=\"5\" of <gpu-cluster> adds a node";
  EXPECT_EQ(check_platform(platform, {"gpu-0", "gpu-1", "gpu-0"}, {}).host_errors,
            (std::vector<std::string>{error, "", ""}));
}

TEST(PlatformCheck, AHostWithoutSpeed) {
  const PlatformFindings findings =
      check(platform_xml("<host id=\"north\" speed=\"0f\"/><host id=\"south\" speed=\"1f\"/>" + link + route));
  EXPECT_EQ(findings.host_errors[0],
            "host 'north' has a speed of 0; use any speed above 0; the device of the worker sets its speed");
  EXPECT_EQ(findings.host_errors[1], "");
}

TEST(PlatformCheck, RoutesThatAreMissing) {
  EXPECT_EQ(check(platform_xml(hosts + link)).route_errors,
            (std::vector<std::string>{
                "there is no route from 'north' to 'south'; add a <route> with at least one link to the platform",
                "there is no route from 'south' to 'north'; add a <route> with at least one link to the platform"}));
  const std::string one_way = "<route src=\"north\" dst=\"south\" symmetrical=\"NO\"><link_ctn id=\"line\"/></route>";
  EXPECT_EQ(check(platform_xml(hosts + link + one_way)).route_errors,
            (std::vector<std::string>{
                "there is no route from 'south' to 'north'; add a <route> with at least one link to the platform"}));
  // With other kinds of routing, SimGrid aborts at the first missing route; dadsim still checks all routes.
  EXPECT_EQ(
      check(platform_xml(hosts, "Floyd")).route_errors,
      (std::vector<std::string>{
          "there is no route from 'north' to 'south' (No route from 'north' to 'south'); add a <route> to the platform",
          "there is no route from 'south' to 'north' (No route from 'south' to 'north'); add a <route> to the "
          "platform"}));
  EXPECT_EQ(check(platform_xml(hosts, "None")).route_errors.size(), 2U);
}

TEST(PlatformCheck, ManyMissingRoutesAreCounted) {
  std::string body;
  std::vector<std::string> workers;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < 6; ++i) {
    workers.push_back("h" + std::to_string(i));
    body += "<host id=\"" + workers.back() + "\" speed=\"1Gf\"/>";
    for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(i, j);
  }
  const TemporaryFile file(platform_xml(body));
  const PlatformFindings findings = check_platform(platform_file(file.path()), workers, pairs);
  ASSERT_EQ(findings.route_errors.size(), 11U);
  EXPECT_EQ(findings.route_errors.back(),
            "altogether 30 directions between workers have no route; add the missing routes to the platform");
}

TEST(PlatformCheck, LinksThatCarryNothing) {
  const auto errors = [](const std::string& attributes) {
    return check(platform_xml(hosts + "<link id=\"line\" " + attributes + "/>\n" + route)).route_errors.at(0);
  };
  EXPECT_EQ(errors("bandwidth=\"0Gbps\" latency=\"1ms\""),
            "link 'line' from 'north' to 'south' has a bandwidth of 0 byte/s; use a bandwidth above 0");
  EXPECT_EQ(errors("bandwidth=\"-8bps\" latency=\"1ms\""),
            "link 'line' from 'north' to 'south' has a bandwidth of -1 byte/s; use a bandwidth above 0");
  EXPECT_EQ(errors("bandwidth=\"1Gbps\" latency=\"-1s\""),
            "link 'line' from 'north' to 'south' has a latency of -1 s; use a latency of at least 0");
  EXPECT_EQ(errors("bandwidth=\"1Gbps\" latency=\"1ms\" sharing_policy=\"WIFI\""),
            "the route from 'north' to 'south' uses the Wi-Fi link 'line', which is not supported; use a wired link of "
            "the same rate");
}

TEST(PlatformCheck, WritesNothingToTheTerminal) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  check(platform_xml(hosts + hosts));
  check(platform_xml(hosts, "Floyd"));
  check(
      platform_xml(hosts + "<link id=\"line\" bandwidth=\"1000\" latency=\"1\"/>" + route));  // SimGrid would warn that
                                                                                              // units are missing
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace dadsim::sim
