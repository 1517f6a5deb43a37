// Expects that an accepted attribute changes a result or is refused. In drawn scenarios, every attribute of the
// language and every parameter of a method, compressor or preset gets another value. Then something learned, timed,
// sent or paid must differ, unless a short list exempts the attribute. The suite tests some of the attributes, each
// until it has changed something. DADSIM_DRAWS=N tests each attribute in N scenarios, and in more if it had no effect.
// DADSIM_ONLY is a regular expression of names to test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "scenario/language/rule.hpp"
#include "study/composition/observing.hpp"
#include "study/composition/perturbing.hpp"
#include "study/composition/shapes.hpp"

namespace dadsim::study {
namespace {

/// Attributes that have no effect on what is learned, timed, sent or paid, each with the reason.
const std::map<std::string, const char*>& neutral() {
  static const std::map<std::string, const char*> kNeutral{
      {"scenario.name", "a title"},
      {"platform.description", "words for a reader"},
      {"device.description", "words for a reader"},
      {"model.name", "what reports call the network"},
      {"run.label", "what reports call the run"},
      {"timed-as.target", "words for what is reached"},
      {"framework.message", "whether a longer model is refused: others are sent the same way"},
      {"framework.server-models", "whether a server holds them: those that do take as long"},
      {"workers.memory", "whether runs that do not fit are refused: those that fit take as long"},
  };
  return kNeutral;
}

/// Attributes that change only text about the numbers, each with the reason.
const std::map<std::string, const char*>& told_alone() {
  constexpr const char* kAtScale = "of the time to accuracy of what is timed, where relative steps are known";
  static const std::map<std::string, const char*> kTold{{"costs.currency", "what prices are in"},
                                                        {"scenario.metric", "what runs are compared by"},
                                                        {"costs.purchase", "of dadsim compare"},
                                                        {"efficiency.source", "where a share of the peak is from"},
                                                        {"timed-as.steps", kAtScale},
                                                        {"timed-as.epochs", kAtScale},
                                                        {"timed-as.evaluation-every", kAtScale},
                                                        {"timed-as.evaluation-seconds", kAtScale},
                                                        {"timed-as.start-up", kAtScale},
                                                        {"framework.version", "Flower's differ in what they refuse"}};
  return kTold;
}

/// Numbers of hosts: a smaller number may remove hosts that are named elsewhere, and additional hosts stay idle.
const std::set<std::string>& of_existence() {
  static const std::set<std::string> kCounts{"gpu-cluster.nodes", "more-nodes.nodes", "region.hosts", "sites.count"};
  return kCounts;
}

/// Returns the names of all attributes and parameters, in the form that perturbing.hpp defines.
std::vector<std::string> all_keys(const scenario::Catalog& catalog) {
  std::vector<std::string> keys;
  std::vector<std::string> inside{"scenario"};  // elements of other kinds of document are left out
  for (std::size_t i = 0; i < inside.size(); ++i) {
    for (const std::string& child : scenario::find_rule(inside[i])->children) {
      if (std::ranges::find(inside, child) == inside.end()) inside.push_back(child);
    }
  }
  for (const scenario::ElementRule& rule : scenario::vocabulary()) {
    if (std::ranges::find(inside, rule.name) == inside.end()) continue;
    for (const scenario::AttributeRule& attribute : rule.attributes) keys.push_back(rule.name + "." + attribute.name);
  }
  const auto add = [&](const std::string& owner, const std::vector<spec::ParameterSpec>& parameters) {
    for (const spec::ParameterSpec& one : parameters) keys.push_back(fmt::format("{}({})", owner, one.name));
  };
  for (const methods::MethodInfo& one : catalog.algorithms) add(one.name, one.parameters);
  for (const scenario::Catalog::Compressor& one : catalog.compressors) add(one.name, one.parameters);
  for (const spec::Preset& one : spec::preset_registry().all()) add(one.name, one.parameters);
  std::set<std::string> seen;
  std::erase_if(keys, [&](const std::string& key) { return !seen.insert(key).second; });
  return keys;
}

struct Tally {
  std::uint64_t bases = 0, refused = 0, same = 0, differs = 0, told = 0;
  std::string example;  ///< a scenario in which the changed value had no effect
  std::string refusal;  ///< refusal of the last scenario that was not accepted as drawn
  std::string failure;  ///< failure of a scenario that was accepted and did not run

  bool tried() const { return refused + same + told + differs > 0; }
};

/// Unequal sites, a pair of thin layers and a wide layer, so that most parameters of methods have an effect. Every
/// second scenario of a method has this shape.
const Shape& shape_of_methods() {
  static const Shape kShape{.key = "",
                            .elements = R"(<data><digits train="60" test="10"/><split by="dirichlet" alpha="1"/></data>
<model><dense units="5" activation="identity"/><dense units="16"/><dense units="10"/></model>)",
                            .alone = false};
  return kShape;
}

class Perturber {
 public:
  explicit Perturber(const Asking& asking) : asking_(asking) {}

  /// Tests an attribute in `bases` scenarios that have it. Without an effect, tries up to `most` scenarios.
  Tally look_at(const std::string& key, std::uint64_t bases, std::uint64_t most) const {
    Tally tally;
    test::Wanted wanted;
    const std::size_t open = key.find('(');
    const std::string owner = open == std::string::npos ? "" : key.substr(0, open);
    const auto& methods = asking_.catalog().algorithms;
    const auto& compressors = asking_.catalog().compressors;
    const bool is_method = std::ranges::find(methods, owner, &methods::MethodInfo::name) != methods.end();
    const bool is_compressor =
        std::ranges::find(compressors, owner, &scenario::Catalog::Compressor::name) != compressors.end();
    wanted.sites = 4;
    if (is_method) {
      wanted.method = owner;
      wanted.parameter_share = 0.5;
    }
    const Shape* own = find_shape(shapes(), key);
    constexpr std::uint64_t kMostDraws = 1500;
    const std::uint64_t start = std::hash<std::string>()(key) % 1'000'000;
    for (std::uint64_t i = 0; i < kMostDraws && tally.bases < (tally.differs > 0 ? bases : most); ++i) {
      test::Element root = test::drawn_scenario(start + i, asking_.catalog(), wanted);
      test::Drawing draw(start + i, asking_.catalog());
      if (own != nullptr) root = shaped(std::move(root), *own, key, draw);
      if (own == nullptr && (is_method || is_compressor) && i % 2 == 0)
        root = shaped(std::move(root), shape_of_methods(), key, draw);
      const std::vector<AttributePlace> places = places_of(root);
      const auto place = std::ranges::find(places, key, &AttributePlace::key);
      if (place == places.end()) continue;
      const Asking::Checked base = asking_.check(root);
      if (!base.scenario) {
        tally.refusal = to_string(base.refused.front()) + '\n' + test::text_of(root);
        continue;
      }
      perturb(root, *base.scenario, *place, own == nullptr ? Texts() : own->others, draw, tally);
    }
    return tally;
  }

 private:
  void perturb(const test::Element& root, const scenario::Scenario& base, const AttributePlace& place,
               const Texts& others, const test::Drawing& draw, Tally& tally) const {
    test::Element copy = root;
    std::optional<Observed> before;
    ++tally.bases;
    for (const std::string& value : others.empty() ? others_of(place.in(copy), place.attribute, draw) : others) {
      if (value.empty() && place.in(copy).find(place.attribute)->value == "auto") continue;  // equal to no value
      const test::Element changed = with(root, place, value);
      const Asking::Checked checked = asking_.check(changed);
      if (!checked.scenario) {
        ++tally.refused;
        continue;
      }
      if (!before) before = observe(asking_, root, base, place.key);
      if (!before->failed.empty()) {
        tally.failure = before->failed + '\n' + test::text_of(root);
        return;
      }
      const Observed after = observe(asking_, changed, *checked.scenario, place.key);
      if (!after.failed.empty()) {
        tally.failure = after.failed + '\n' + test::text_of(changed);
        continue;
      }
      if (after.numbers != before->numbers) {
        ++tally.differs;
        return;
      }
      ++(after.words != before->words ? tally.told : tally.same);
      if (tally.example.empty())
        tally.example = fmt::format("{}=\"{}\" in place of \"{}\" in\n{}", place.attribute, value,
                                    place.in(copy).find(place.attribute)->value, test::text_of(root));
    }
  }

  const Asking& asking_;
};

constexpr std::uint64_t kAttributeParts = 4;

class Metamorphic : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Metamorphic, AnAcceptedAttributeChangesSomethingOrIsRefused) {
  const Asking asking;
  const Perturber perturber(asking);
  const bool whole = std::getenv("DADSIM_DRAWS") != nullptr;
  const char* only = std::getenv("DADSIM_ONLY");
  const std::regex pattern(only == nullptr ? "" : only);
  constexpr std::uint64_t kPatience = 24;  // number of scenarios in which an attribute without an effect is tried
  const std::vector<std::string> keys = all_keys(asking.catalog());
  constexpr std::uint64_t kOneIn = 96;  // the suite tests one in this many attributes
  std::map<std::string, int> counts;
  std::uint64_t bases = 0;
  for (std::size_t i = GetParam(); i < keys.size(); i += kAttributeParts) {
    const std::string& key = keys[i];
    if (!whole && (i / kAttributeParts) % kOneIn != 0) continue;
    if (!std::regex_search(key, pattern)) continue;
    const Tally tally = perturber.look_at(key, draws(1), whole ? std::max(draws(1), kPatience) : 6);
    const bool is_neutral = neutral().contains(key), is_told = told_alone().contains(key);
    const char* what = tally.differs > 0                                   ? "differs"
                       : tally.bases == 0                                  ? "was never drawn"
                       : is_neutral                                        ? "neutral"
                       : !tally.tried()                                    ? "was given no other value"
                       : of_existence().contains(key) && tally.refused > 0 ? "adds idle hosts"
                       : tally.told > 0                                    ? "is told alone"
                       : tally.same == 0 && tally.refused > 0              ? "refused"
                                                                           : "changes nothing";
    ++counts[what];
    bases += tally.bases;
    if (whole)
      fmt::print("{}: {} ({} bases, {} refused, {} same, {} told, {} differ)\n", key, what, tally.bases, tally.refused,
                 tally.same, tally.told, tally.differs);
    std::fflush(stdout);
    EXPECT_EQ(tally.failure, "") << key << " is accepted, and does not run";
    EXPECT_TRUE(tally.differs == 0 || !is_neutral) << key << " is not neutral: " << tally.example;
    if (tally.differs > 0 || is_neutral || (of_existence().contains(key) && tally.refused > 0)) continue;
    if (tally.bases == 0) {
      EXPECT_FALSE(whole) << key << " was never drawn in a scenario that is right: " << tally.refusal;
    } else {
      EXPECT_TRUE(tally.tried() || !whole) << key << " was given no other value";
      EXPECT_TRUE(tally.same + tally.told == 0 || (is_told && tally.told > 0))
          << key << " is accepted, and " << what << ": " << tally.example;
    }
  }
  for (const auto& [what, count] : counts) {
    RecordProperty(what, count);
    if (whole) fmt::print("{} {}\n", count, what);
  }
  if (whole) fmt::print("{} scenarios\n", bases);
}

INSTANTIATE_TEST_SUITE_P(Attributes, Metamorphic, testing::Range<std::uint64_t>(0, kAttributeParts));

}  // namespace
}  // namespace dadsim::study
