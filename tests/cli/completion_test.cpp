// Tests shell completions, and that completion files are made from the program's own lists.
#include "cli/completion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/listings.hpp"
#include "cli/process.hpp"
#include "scenario/language/rule.hpp"

namespace dadsim::cli {
namespace {

std::vector<std::string> texts(const std::string& line) {
  std::vector<std::string> all;
  for (const Completion::Candidate& one : complete(line).candidates) all.push_back(one.text);
  return all;
}

using Texts = std::vector<std::string>;

TEST(Completion, CompletesADevice) {
  EXPECT_EQ(texts("dadsim devices a100-sx"), (Texts{"a100-sxm4-40", "a100-sxm4-80", "a100-sxm4-64"}));
  EXPECT_EQ(texts("dadsim x.xml --set workers.worker[2].device=h200-s"), (Texts{"workers.worker[2].device=h200-sxm"}));
  EXPECT_EQ(texts("dadsim calibrate s.csv --device mine --like tpu-v4"), (Texts{"tpu-v4"}));
  EXPECT_EQ(texts("dadsim calibrate s.csv --device mine --like=tpu-v4"), (Texts{"--like=tpu-v4"}));
}

TEST(Completion, CompletesCommandsAndTheirOptions) {
  EXPECT_EQ(texts("dadsim expl"), (Texts{"explain"}));
  EXPECT_EQ(texts("dadsim sweep --lear"), (Texts{"--learned", "--learn-only"}));
  EXPECT_EQ(texts("dadsim merge --sal"), (Texts{"--salvage"}));
  EXPECT_EQ(texts("dadsim x.xml --trace-"), (Texts{"--trace-steps"}));
  EXPECT_EQ(texts("dadsim new cli"), (Texts{"clinics"}));
  EXPECT_EQ(texts("dadsim support zs"), (Texts{"zsh"}));
  EXPECT_EQ(texts("dadsim collective --op all-"), (Texts{"all-reduce", "all-gather", "all-to-all"}));
  EXPECT_EQ(texts("dadsim collective --fidelity f"), (Texts{"flow"}));
  const Texts first = texts("dadsim ");
  for (const Command& command : commands()) EXPECT_NE(std::ranges::find(first, command.name), first.end());
  for (const Listing& listing : listings()) EXPECT_NE(std::ranges::find(first, listing.name), first.end());
}

TEST(Completion, CompletesSettingsByTheSchema) {
  EXPECT_EQ(texts("dadsim x.xml --set timed-as.workload=gpt-2-m"), (Texts{"timed-as.workload=gpt-2-medium"}));
  EXPECT_EQ(texts("dadsim x.xml --set 'run[rank-dad].algorithm=rank"), (Texts{"run[rank-dad].algorithm=rank-dad"}));
  EXPECT_EQ(texts("dadsim x.xml --set platform.gpu-cluster.nic=ib-hd"), (Texts{"platform.gpu-cluster.nic=ib-hdr"}));
  EXPECT_EQ(texts("dadsim x.xml --set training.stop="), (Texts{"training.stop=budget", "training.stop=target"}));
  EXPECT_EQ(texts("dadsim x.xml --set training.adam.learn"), (Texts{"training.adam.learning-rate="}));
  EXPECT_EQ(texts("dadsim x.xml --set traini"), (Texts{"training."}));
  EXPECT_TRUE(texts("dadsim x.xml --set no.such.thing=").empty());
}

TEST(Completion, SaysWhereFilesMayStand) {
  EXPECT_EQ(complete("dadsim ").files, ".xml");
  EXPECT_EQ(complete("dadsim explain hosp").files, ".xml");
  EXPECT_EQ(complete("dadsim x.xml --json out").files, "*");
  EXPECT_EQ(complete("dadsim algorithms --pages ").files, "/");
  EXPECT_EQ(complete("dadsim collective --platform ").files, ".xml");
  EXPECT_EQ(complete("dadsim x.xml --seed ").files, "");
  EXPECT_EQ(complete("dadsim support ").files, "");
}

TEST(Completion, EveryListHasItsNames) {
  for (const Listing& listing : listings()) {
    if (listing.name == "prices") continue;  // prices are dated examples, which no attribute names
    const std::vector<std::string> names = names_of(listing.name);
    EXPECT_GE(names.size(), 3U) << listing.name;
    const std::string text = listing.text();
    for (const std::string& name : names) {
      EXPECT_TRUE(text.find("\n" + name) != std::string::npos || text.find("  " + name) != std::string::npos)
          << listing.name << " does not list " << name;
    }
  }
  EXPECT_TRUE(names_of("nothing").empty());
}

TEST(Completion, OptionsAreReadFromUsageTexts) {
  const std::vector<OptionWords> options = options_in(
      "dadsim x\n\nOptions:\n  --json FILE           write it\n                        as JSON\n"
      "  --shard I/N only some\n  --quiet               no text\n\nOther --words\n");
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].name, "--json");
  EXPECT_EQ(options[0].value, "FILE");
  EXPECT_EQ(options[0].help, "write it as JSON");
  EXPECT_EQ(options[1].value, "I/N");
  EXPECT_EQ(options[2].value, "");
  for (const Command& command : commands()) {
    std::set<std::string> names;
    for (const OptionWords& option : options_in(usage_of(command))) {
      EXPECT_TRUE(names.insert(option.name).second) << command.name << " " << option.name;
      EXPECT_FALSE(option.help.empty()) << command.name << " " << option.name;
    }
    EXPECT_TRUE(names.contains("--help")) << command.name;
  }
}

TEST(Completion, TheProgramAnswersTheShells) {
  const test::Outcome outcome = test::run_dadsim({"--complete", "dadsim explain --js"});
  EXPECT_EQ(outcome.exit_code, kSuccess);
  EXPECT_EQ(outcome.out, "--json\twrite the result as JSON (docs/explain.md); - is standard output\n");
  EXPECT_EQ(test::run_dadsim({"--complete"}).exit_code, kUsage);
  for (const char* name : {"bash", "zsh", "fish", "man", "schema", "catalog"}) {
    EXPECT_GT(test::run_dadsim({"support", name}).out.size(), 400U) << name;
  }
  EXPECT_EQ(test::run_dadsim({"support", "tcsh"}).exit_code, kUsage);
}

TEST(Support, TheManualPageTellsEveryCommandAndOption) {
  const std::string page = manual_page();
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
  };
  for (const Command& command : commands()) {
    EXPECT_NE(page.find(".SS dadsim " + escaped(command.name) + "\n"), std::string::npos) << command.name;
    for (const OptionWords& option : options_in(usage_of(command))) {
      EXPECT_NE(page.find("\\fB" + escaped(option.name) + "\\fR"), std::string::npos) << option.name;
    }
  }
}

TEST(Support, TheSchemaHoldsTheNames) {
  const std::string schema = schema_with_names();
  for (const char* kind : {"algorithms", "compressors", "devices", "links", "models", "workloads", "all-reduces"}) {
    for (const std::string& name : names_of(kind)) {
      EXPECT_NE(schema.find("<xs:enumeration value=\"" + name + "\"/>"), std::string::npos) << kind << " " << name;
    }
  }
}

}  // namespace
}  // namespace dadsim::cli
