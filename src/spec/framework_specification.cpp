#include "spec/framework_specification.hpp"

#include "spec/frameworks.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::spec {
namespace {

constexpr double kMegabyte = 1e6;

FrameworkFacts facts_of(const FactTable::Row& row) {
  FrameworkFacts facts;
  FrameworkSpec& spec = facts.spec;
  const auto rate = [&](const char* column) { return kMegabyte * row.number_or(column, 0); };
  spec.name = row.text("name");
  spec.version = row.text("version");
  spec.serialise = rate("serialise [MB/s]");
  spec.deserialise = rate("deserialise [MB/s]");
  spec.server_serialise = rate("server serialise [MB/s]");
  spec.server_deserialise = rate("server deserialise [MB/s]");
  spec.server_cores = row.integer("server cores");
  spec.aggregate = rate("aggregate [MB/s]");
  spec.copy = rate("copy [MB/s]");
  spec.streams = row.yes("streams");
  spec.round = row.number_or("round [s]", 0);
  spec.per_client = row.number_or("per client [s]", 0);
  spec.polling = row.number_or("polling [s]", 0);
  spec.longest_message = row.number_or("message [byte]", 0);
  spec.server_models = row.integer("models");
  spec.evaluates = row.yes("evaluate");
  spec.sends = row.one_of<FrameworkSpec::Sends>("sends", {{"parameters", FrameworkSpec::Sends::parameters},
                                                          {"state", FrameworkSpec::Sends::state},
                                                          {"optimizer", FrameworkSpec::Sends::optimizer}});
  spec.all_reduce = row.optional_text("all-reduce");
  spec.computing = row.number_or("computing", 1);
  facts.computing_spread = row.number_or("spread", 0);
  facts.tables = row.optional_text("tables");
  facts.date = row.text("date");
  facts.source = row.text("source");
  return facts;
}

}  // namespace

bool FrameworkSpec::none() const {
  FrameworkSpec other;
  other.name = name;
  other.version = version;
  other.computing = computing;
  return *this == other;
}

std::string FrameworkSpec::in_words() const {
  std::string known = version.empty() ? name : name + " " + version;
  if (*this == framework_of_table(name, version)) return known;
  return (name == "none" ? "a framework" : known) + " with overheads set in the scenario";
}

const std::vector<FrameworkFacts>& framework_facts() {
  static const std::vector<FrameworkFacts> kFacts = FactTable(tables::kFrameworks,
                                                              {"name",
                                                               "version",
                                                               "serialise [MB/s]",
                                                               "deserialise [MB/s]",
                                                               "server serialise [MB/s]",
                                                               "server deserialise [MB/s]",
                                                               "server cores",
                                                               "aggregate [MB/s]",
                                                               "copy [MB/s]",
                                                               "streams",
                                                               "round [s]",
                                                               "per client [s]",
                                                               "polling [s]",
                                                               "message [byte]",
                                                               "models",
                                                               "evaluate",
                                                               "sends",
                                                               "all-reduce",
                                                               "computing",
                                                               "spread",
                                                               "tables",
                                                               "date",
                                                               "source"},
                                                              2)
                                                        .each(facts_of);
  return kFacts;
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names{"none"};
  for (const FrameworkFacts& facts : framework_facts()) {
    if (names.back() != facts.spec.name) names.push_back(facts.spec.name);
  }
  return names;
}

std::vector<std::string> framework_versions(const std::string& name) {
  std::vector<std::string> versions;
  for (const FrameworkFacts& facts : framework_facts()) {
    if (facts.spec.name == name) versions.push_back(facts.spec.version);
  }
  return versions;
}

const FrameworkFacts* find_framework(const std::string& name, const std::string& version) {
  const FrameworkFacts* last = nullptr;
  for (const FrameworkFacts& facts : framework_facts()) {
    if (facts.spec.name == name && (version.empty() || facts.spec.version == version)) last = &facts;
  }
  return last;
}

FrameworkSpec framework_of_table(const std::string& name, const std::string& version) {
  const FrameworkFacts* facts = find_framework(name, version);
  return facts == nullptr ? FrameworkSpec{} : facts->spec;
}

}  // namespace dadsim::spec
