#include "scenario/elements/host_list.hpp"

#include <gtest/gtest.h>

namespace dadsim::scenario {
namespace {

using Names = std::vector<std::string>;

Names expanded(const std::string& text) {
  const HostList list = expand_hosts(text, kMaxWorkers);
  EXPECT_EQ(list.what, "");
  return list.hosts;
}

TEST(HostList, Expands) {
  EXPECT_EQ(expanded("hub"), Names{"hub"});
  EXPECT_EQ(expanded(" a  b\n\tc "), (Names{"a", "b", "c"}));
  EXPECT_EQ(expanded("gpu-[0-2]"), (Names{"gpu-0", "gpu-1", "gpu-2"}));
  EXPECT_EQ(expanded("hub n[3-3].lab x"), (Names{"hub", "n3.lab", "x"}));
  EXPECT_EQ(expanded("n[9-11]"), (Names{"n9", "n10", "n11"}));
  EXPECT_EQ(expanded("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expanded("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expanded("a a"), (Names{"a", "a"}));
}

TEST(HostList, Refuses) {
  for (const char* text : {"a[1-2", "a]1-2[", "a[1-2][3-4]", "a[]", "a[1]", "a[1-]", "a[-1-2]", "a[x-y]", "a[2-1]",
                           "a[1-2-3]", "a[[1-2]]", "a[0-99999999999999999999]", "a[+1-2]", "a[1-0x2]"}) {
    EXPECT_NE(expand_hosts(text, kMaxWorkers).what, "") << text;
  }
  EXPECT_NE(expand_hosts(std::string(kMaxHostName + 1, 'a'), kMaxWorkers).what, "");
}

TEST(HostList, NamesWithBlanksStandInQuotationMarksOrHaveBackslashes) {
  EXPECT_EQ(expanded("'Edge 1' \"Edge 2\" hub"), (Names{"Edge 1", "Edge 2", "hub"}));
  EXPECT_EQ(expanded("Edge\\ 1 Edge\\ [2-3]"), (Names{"Edge 1", "Edge 2", "Edge 3"}));
  EXPECT_EQ(expanded("'Edge [08-10] north'"), (Names{"Edge 08 north", "Edge 09 north", "Edge 10 north"}));
  // Names may have quotation marks, brackets and backslashes.
  EXPECT_EQ(expanded("bob's 'bob's pc' n\\[1\\] lab\\x a\\\\"), (Names{"bob's", "bob's pc", "n[1]", "lab\\x", "a\\"}));
  for (const char* text : {"'Edge 1", "\"Edge 1'", "''", "a 'b"})
    EXPECT_NE(expand_hosts(text, kMaxWorkers).what, "") << text;
  // in_host_list() escapes a name so that it is read back unchanged.
  for (const char* name : {"gpu-0", "Edge 1", "n[1]", "bob's pc", "'x'", "a\\ b", "a*", "\"q\" z", "tab\there"}) {
    EXPECT_EQ(expanded(in_host_list(name)), Names{name});
    EXPECT_EQ(split_host_words(in_host_list(name)), Names{name});
  }
  EXPECT_EQ(plain_name("Edge 1"), "Edge 1");
  EXPECT_EQ(plain_name(" 'Edge 1' "), "Edge 1");
  EXPECT_EQ(plain_name("Edge\\ 1"), "Edge 1");
  EXPECT_EQ(plain_name("bob's"), "bob's");
}

TEST(HostList, AStarStandsForTheHostsThatAreLeft) {
  const auto all = [] { return Names{"Edge 1", "Edge 2", "gpu-1", "gpu-2"}; };
  const auto hosts = [&](const char* text) {
    const HostList list = expand_hosts(text, kMaxWorkers, all);
    EXPECT_EQ(list.what, "");
    return list.hosts;
  };
  EXPECT_EQ(hosts("*"), all());
  EXPECT_EQ(hosts("gpu-2 *"), (Names{"gpu-2", "Edge 1", "Edge 2", "gpu-1"}));
  EXPECT_EQ(hosts("Edge*"), (Names{"Edge 1", "Edge 2"}));
  EXPECT_EQ(hosts("*[2-2]"), (Names{"Edge 2", "gpu-2"}));
  EXPECT_EQ(expand_hosts("gpu-[1-2] gpu-*", kMaxWorkers, all).what,
            "holds 'gpu-*', which matches no remaining host of the platform");
  EXPECT_EQ(expand_hosts("*", 3, all).what, "names too many hosts");
  EXPECT_EQ(expanded("a*"), Names{"a*"});  // the platform is unknown, so the pattern stays as it is
}

TEST(HostList, IsBounded) {
  EXPECT_EQ(expand_hosts("a[1-100000]", kMaxWorkers).hosts.size(), kMaxWorkers);
  EXPECT_EQ(expand_hosts("a[0-100000]", kMaxWorkers).what, "names too many hosts");
  EXPECT_EQ(expand_hosts("a[0-9223372036854775807]", kMaxWorkers).what, "names too many hosts");
  EXPECT_EQ(expand_hosts("a b c", 2).what, "names too many hosts");
  EXPECT_EQ(expand_hosts("a b c", 3).hosts.size(), 3U);
}

}  // namespace
}  // namespace dadsim::scenario
