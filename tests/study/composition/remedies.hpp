#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "scenario/language/rule.hpp"
#include "study/composition/drawing.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Applies the remedy of a refusal: removes an element or attribute, sets other values, adds elements, or changes the
/// method. Tries all readings of the remedy's text; with one of them, the refusal must disappear.
class Remedies {
 public:
  using Element = test::Element;

  Remedies(const Element& root, const Diagnostic& refusal, const scenario::Catalog& catalog)
      : root_(root), refusal_(refusal), catalog_(catalog) {}

  std::vector<Element> tries() {
    leave_out();
    set_attributes();
    put_in_elements();
    change_method();
    change_sizes();
    return std::move(tries_);
  }

 private:
  void each(Element& element, const std::function<void(Element&)>& what) const {
    what(element);
    for (Element& child : element.children) each(child, what);
  }

  /// Adds a try, unless it leaves the scenario unchanged.
  void add(const std::function<void(Element&)>& change) {
    Element changed = root_;
    change(changed);
    if (test::text_of(changed) != test::text_of(root_)) tries_.push_back(std::move(changed));
  }

  bool says(const char* pattern) const { return std::regex_search(refusal_.remedy, std::regex(pattern)); }

  static void erase(Element& element, const std::string& attribute) {
    std::erase_if(element.attributes, [&](const scenario::Attribute& one) { return one.name == attribute; });
  }

  /// Removes `attribute="…" of <element>`, or the elements that the refusal calls superfluous.
  void leave_out() {
    std::smatch found;
    const bool removes = says(
        "remove|leave it out|left out|without it|one of (both|the two|them)|neither|drawn from the range|nothing is "
        "drawn|means nothing");
    static const std::regex kOf(R"(^([a-z0-9-]+)=?.* of <([a-z0-9-]+)>)");
    if (std::regex_search(refusal_.what, found, kOf)) {
      const std::string attribute = found[1], element = found[2];
      add([&](Element& root) {
        each(root, [&](Element& one) {
          if (one.name == element) erase(one, attribute);
        });
      });
    }
    // Matches "no <drift>", "<timed-as> without tensor, pipeline", "a run without <share>", "remove the memory".
    const std::string all = refusal_.remedy + " " + (removes ? refusal_.what : "");
    static const std::regex kElements(R"(<([a-z0-9-]+)[ >/])");
    for (auto it = std::sregex_iterator(all.begin(), all.end(), kElements); it != std::sregex_iterator(); ++it) {
      const std::string name = (*it)[1];
      add([&](Element& root) {
        each(root, [&](Element& one) {
          std::erase_if(one.children, [&](const Element& child) { return child.name == name; });
        });
      });
    }
    static const std::regex kWithout(R"(without ([a-z0-9", =-]+(and [a-z0-9-]+)?))");
    std::smatch without;
    if (std::regex_search(refusal_.remedy, without, kWithout) || removes) {
      const std::string words = without.size() > 1 ? without[1].str() : refusal_.what + " " + refusal_.remedy;
      static const std::regex kWord(R"([a-z0-9]+(-[a-z0-9]+)*)");
      std::vector<std::string> names;
      for (auto it = std::sregex_iterator(words.begin(), words.end(), kWord); it != std::sregex_iterator(); ++it)
        names.push_back(it->str());
      const auto named = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
      add([&](Element& root) {
        each(root, [&](Element& one) {
          if (one.name != "scenario")
            std::erase_if(one.attributes, [&](const scenario::Attribute& a) { return named(a.name); });
        });
      });
    }
  }

  void set_attributes() {
    static const std::regex kPair(R"re(([a-z0-9-]+)="([^"]*)")re");
    std::vector<std::pair<std::string, std::string>> pairs;
    std::string rest = refusal_.remedy;
    for (auto it = std::sregex_iterator(rest.begin(), rest.end(), kPair); it != std::sregex_iterator(); ++it)
      pairs.emplace_back((*it)[1], (*it)[2]);
    // Matches alternatives such as `noise="local" or "per-site"`.
    static const std::regex kOr(R"re(([a-z0-9-]+)="[^"]*",? or "([^"]*)")re");
    for (auto it = std::sregex_iterator(rest.begin(), rest.end(), kOr); it != std::sregex_iterator(); ++it)
      pairs.emplace_back((*it)[1], (*it)[2]);
    if (says("^proportional or equal")) pairs.emplace_back("batches", "proportional");
    for (const auto& [name, value] : pairs) {
      if (value == "…") continue;
      add([&](Element& root) {
        each(root, [&](Element& one) {
          const scenario::ElementRule* rule = scenario::find_rule(one.name);
          const bool parameter = one.name == "run" && has_parameter(one, name);
          if (!parameter && (rule == nullptr || rule->find(name) == nullptr)) return;
          erase(one, name);
          test::Drawing::set(one, name, value);
        });
      });
      // Changes only the element in which the error is.
      add([&](Element& root) {
        each(root, [&](Element& one) {
          if (refusal_.what.find("<" + one.name + ">") == std::string::npos) return;
          erase(one, name);
          test::Drawing::set(one, name, value);
        });
      });
    }
  }

  bool has_parameter(const Element& run, const std::string& name) const {
    const scenario::Attribute* algorithm = run.find("algorithm");
    if (algorithm == nullptr) return false;
    const auto found = std::ranges::find(catalog_.algorithms, algorithm->value, &methods::MethodInfo::name);
    return found != catalog_.algorithms.end() &&
           std::ranges::find(found->parameters, name, &spec::ParameterSpec::name) != found->parameters.end();
  }

  void put_in_elements() {
    for (const char* optimizer : {"sgd", "adam", "adamw", "muon"}) {
      if (refusal_.remedy.find(fmt::format("<{}/>", optimizer)) == std::string::npos) continue;
      add([&](Element& root) {
        for (Element& child : root.children) {
          if (child.name != "training") continue;
          std::erase_if(child.children, [](const Element& one) { return one.name != "schedule"; });
          child.children.push_back({.name = optimizer, .origin = {}});
        }
      });
    }
    if (says("<aggregator>")) {
      add([&](Element& root) {
        for (Element& child : root.children) {
          if (child.name != "workers") continue;
          child.children.push_back({.name = "aggregator", .origin = {}});
          test::Drawing::set(child.children.back(), "host", "hub");
          test::Drawing::set(child.children.back(), "device", "xeon-8380");
        }
      });
    }
    if (says("a network of (only )?dense|<convolution")) {
      add([&](Element& root) {
        for (Element& child : root.children) {
          if (child.name == "model")
            std::erase_if(child.children, [](const Element& one) {
              return one.name != "dense" && one.name != "convolution" && one.name != "gru";
            });
        }
      });
    }
  }

  /// Changes the method of the runs with the error, or else of all runs.
  void change_method() {
    for (const methods::MethodInfo& info : catalog_.algorithms) {
      const bool named =
          std::regex_search(refusal_.remedy, std::regex("(^|[^a-z0-9-])" + info.name + "([^a-z0-9-]|$)"));
      if (!named) continue;
      add([&](Element& root) {
        each(root, [&](Element& one) {
          if (one.name != "run") return;
          erase(one, "algorithm");
          test::Drawing::set(one, "algorithm", info.name);
          // Removes parameters of the old method that the new method does not have.
          std::erase_if(one.attributes, [&](const scenario::Attribute& a) {
            return scenario::find_rule("run")->find(a.name) == nullptr && !has_parameter(one, a.name);
          });
        });
      });
    }
    for (const scenario::Catalog::Compressor& one : catalog_.compressors) {
      if (!std::regex_search(refusal_.remedy, std::regex("(^|[^a-z0-9-])" + one.name + "([^a-z0-9-]|$)"))) continue;
      add([&](Element& root) {
        each(root, [&](Element& element) {
          if (element.name != "compress") return;
          element.attributes.clear();
          test::Drawing::set(element, "method", one.name);
        });
      });
    }
  }

  void change_sizes() {
    const auto scale = [&](const char* attribute, double factor) {
      add([&](Element& root) {
        each(root, [&](Element& one) {
          for (scenario::Attribute& a : one.attributes) {
            if (a.name == attribute)
              a.value = fmt::format("{}", std::max(1.0, std::floor(std::atof(a.value.c_str()) * factor)));
          }
        });
      });
    };
    if (says("smaller batch|at most")) scale("batch", 0.25);
    if (says("larger epsilon")) scale("epsilon", 1000);
    std::smatch found;
    static const std::regex kAtMost(R"(at most ([0-9]+))");
    static const std::regex kOf(R"(^([a-z0-9-]+)=?.* of <([a-z0-9-]+)>)");
    std::smatch of;
    if (std::regex_search(refusal_.remedy, found, kAtMost) && std::regex_search(refusal_.what, of, kOf)) {
      const std::string value = found[1], attribute = of[1], element = of[2];
      add([&](Element& root) {
        each(root, [&](Element& one) {
          if (one.name != element) return;
          erase(one, attribute);
          test::Drawing::set(one, attribute, value);
        });
      });
    }
  }

  const Element& root_;
  const Diagnostic& refusal_;
  const scenario::Catalog& catalog_;
  std::vector<Element> tries_;
};

}  // namespace dadsim::study
