#include "report/html/about.hpp"

#include "report/text/json_values.hpp"

namespace dadsim::report {

std::string to_json(const About& about) {
  Json json{
      {"description", about.description}, {"scenario", about.scenario}, {"set", about.set}, {"build", about.build}};
  const ClassTable& classes = about.classes;
  if (classes.too_many || !classes.sites.empty())
    json["classes"] = {{"too_many", classes.too_many}, {"sites", classes.sites}, {"samples", classes.samples}};
  return one_line(json) + '\n';
}

}  // namespace dadsim::report
