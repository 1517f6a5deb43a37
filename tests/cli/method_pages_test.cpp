#include "cli/method_pages.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compress/registry.hpp"
#include "methods/method_page.hpp"
#include "protocols/registry.hpp"

namespace dadsim::cli {
namespace {

/// Expects that a method's page has prose, and that README.md lists the page.
void expect_prose(const std::string& file, const std::string& readme, const std::string& kind) {
  const methods::MethodPage& page = methods::method_page(file);
  const std::string where = "docs/algorithms/" + file + ".md";
  EXPECT_NE(page.description, "") << where << " needs a sentence below its title";
  EXPECT_NE(page.section("What is sent"), "") << where;
  EXPECT_NE(page.section("Source"), "") << where;
  EXPECT_NE(readme.find(".md)" + kind + " | " + page.description + " |\n"), std::string::npos)
      << where << " is in no table of README.md, which needs a heading of its family";
}

TEST(MethodPages, EveryMethodHasOne) {
  const std::string readme = method_pages().at("README.md");
  for (const methods::MethodInfo* info : protocols::all_methods()) {
    expect_prose(info->name, readme, "");
    if (info->event_driven()) {
      EXPECT_NE(methods::method_page(info->name).section(methods::kOnFailure), "") << info->name;
    }
  }
  for (const compress::CompressorInfo& info : compress::compressors().all())
    expect_prose("compress-" + info.name, readme, " (compressor)");
}

TEST(MethodPages, GiveTheProseWithoutWhatIsComputed) {
  const methods::MethodPage& dad = methods::method_page("dad");
  EXPECT_EQ(dad.section("What is sent"), "N(p + q)");
  EXPECT_EQ(dad.section("Source"), "Baker et al., arXiv 2102.09631");
  EXPECT_EQ(methods::method_page("compress-int8").section("What is sent"), "n + 4");
  EXPECT_EQ(methods::method_page("perpetuum").description, "");
}

}  // namespace
}  // namespace dadsim::cli
