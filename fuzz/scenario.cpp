#include <string>

#include "scenario/document/load.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/language/schema.hpp"
#include "scenario/xml/element.hpp"
#include "support/diagnostics.hpp"
#include "target.hpp"

using namespace dadsim;

namespace {

scenario::Scenario read(const std::string& content, const scenario::Catalog& catalog) {
  const std::string path = "/nowhere/scenario.xml";
  scenario::Findings findings(path);
  const scenario::Element root = parse_xml(content, scenario::kScenarioDocument, findings);
  findings.throw_if_any();
  scenario::Scenario scenario = read_scenario(root, {path, catalog, findings});
  check_against_schema(root, findings);
  findings.throw_if_any();
  return scenario;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scenario::Catalog catalog = test::fake_catalog();
  std::string printed;
  try {
    printed = print_scenario(read(std::string(fuzz::text_of(data, size)), catalog));
  } catch (const InputError&) {
    return 0;
  }
  try {
    fuzz::require(print_scenario(read(printed, catalog)) == printed, "a scenario that was written back is the same");
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n%s\n", printed.c_str(), error.what());
    fuzz::require(false, "a scenario that was written back is sound");
  }
  return 0;
}
