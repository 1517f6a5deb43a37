#include "scenario/language/schema.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

const std::vector<std::string> kShipped = {"hospitals.xml", "infiniband.xml", "paper-mnist.xml",
                                           "paper-mnist-small.xml"};

std::string shipped(const std::string& name) { return std::string(DADSIM_SOURCE_DIR) + "/scenarios/" + name; }

scenario::Element tree_of(const std::string& text) {
  scenario::Findings findings("test.xml");
  scenario::Element root = parse_xml(text, scenario::kScenarioDocument, findings);
  findings.throw_if_any();
  return root;
}

void for_each_element(const scenario::Element& element, const std::function<void(const scenario::Element&)>& visit) {
  visit(element);
  for (const scenario::Element& child : element.children) for_each_element(child, visit);
}

std::string value(const scenario::Element& element, const char* attribute) {
  const scenario::Attribute* found = element.find(attribute);
  return found == nullptr ? "" : found->value;
}

TEST(Schema, TakesTheNamesOfCatalogues) {
  const std::string schema = scenario::schema_with(
      [](const std::string& catalog) { return std::vector<std::string>{"one of the " + catalog}; });
  for (const char* name : {"devices", "links", "workloads", "algorithms", "compressors", "models", "all-reduces"})
    EXPECT_NE(schema.find(std::string("<xs:enumeration value=\"one of the ") + name + "\"/>"), std::string::npos)
        << name;
}

TEST(Schema, AcceptsTheShippedScenarios) {
  for (const std::string& name : kShipped) {
    for (const scenario::SchemaError& error : validate_against_schema(tree_of(file_content(shipped(name)))))
      ADD_FAILURE() << name << ": " << error.what;
  }
}

// Tests all files of the folder, as it may have scenarios that the tests above do not name.
TEST(Schema, AcceptsEveryFileInTheFolderOfScenarios) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shipped(""))) {
    if (entry.path().extension() != ".xml") continue;
    ++files;
    EXPECT_TRUE(scenario::validate_against_schema(tree_of(file_content(entry.path().string()))).empty())
        << entry.path();
  }
  EXPECT_GE(files, 4);
}

TEST(Schema, DocumentsEveryElementAndAttribute) {
  const scenario::Element schema = tree_of(std::string(scenario::scenario_schema()));
  for_each_element(schema, [](const scenario::Element& element) {
    const bool declares =
        (element.name == "xs:element" || element.name == "xs:attribute") && element.find("name") != nullptr;
    if (!declares) return;
    std::string text;
    for_each_element(element.children.at(0),
                     [&](const scenario::Element& part) { text += part.name == "xs:documentation" ? part.text : ""; });
    EXPECT_GT(text.size(), 5U) << value(element, "name");
  });
}

TEST(Schema, NamesTheElementThatIsWrong) {
  const scenario::Element root = tree_of("<scenario name=\"x\">\n<model>\n<dense units=\"0\"/></model></scenario>");
  const std::vector<scenario::SchemaError> errors = validate_against_schema(root);
  ASSERT_FALSE(errors.empty());
  for (const scenario::SchemaError& error : errors) {
    ASSERT_NE(error.element, nullptr);
    EXPECT_EQ(error.element->name, "dense");
    EXPECT_EQ(error.element->origin.line, 3);
    EXPECT_NE(error.what.find("units"), std::string::npos);
  }
}

// The reader must report every error that the schema finds, so that users see the reader's messages.
TEST(Schema, NeverSpeaksWhereTheReaderDoes) {
  const TemporaryFolder folder;
  const std::string platform = folder.write("platform.xml", fake_platform());
  for (const MalformedCase& one : malformed_cases()) {
    if (one.file != MalformedCase::File::regular || one.size > 0) continue;
    const std::string path = folder.path("scenario.xml");
    write_case(one, path, platform);
    try {
      load_scenario(path, one.overrides, fake_catalog());
      ADD_FAILURE() << one.name;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("as in scenario.xsd"), std::string::npos)
          << one.name << ": " << error.what();
    }
  }
}

TEST(Shipped, LoadAndComeBackFromPrint) {
  const TemporaryFolder data;
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"})
    data.write(name, "60000 784 10");
  for (const char* name : {"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}) data.write(name, "10000 784 10");
  setenv("DADSIM_DATA", data.path("").c_str(), 1);
  scenario::Catalog catalog = fake_catalog();
  // If the simulator is linked, it checks platforms and their host names.
  catalog.check_platform = [](const scenario::Catalog::PlatformQuestion&) {
    return scenario::Catalog::PlatformAnswer{};
  };
  for (const std::string& name : kShipped) {
    SCOPED_TRACE(name);
    const scenario::Scenario scenario = load_scenario(shipped(name), {}, catalog);
    const std::string printed = scenario::print_scenario(scenario);
    const scenario::Scenario again = load_scenario(data.write("printed.xml", printed), {}, catalog);
    EXPECT_EQ(print_scenario(again), printed);
    EXPECT_EQ(again.hash, scenario.hash);
  }
  const scenario::Scenario paper = load_scenario(shipped("paper-mnist.xml"), {}, catalog);
  EXPECT_EQ(std::get<spec::IdxSource>(paper.data.source).train, 60000);
  EXPECT_EQ(std::get<spec::IdxSource>(paper.data.source).test, 10000);
}

}  // namespace
}  // namespace dadsim::test
