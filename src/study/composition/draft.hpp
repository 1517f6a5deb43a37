#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dadsim::study {

using DraftAttributes = std::vector<std::pair<std::string, std::string>>;

/// A small scenario that features are put into: four sites around a hub, of whom each trains on ten digits. What of it
/// a feature needs otherwise it says.
struct Draft {
  /// What is asked of it.
  enum class Question { run, plan, sweep, explain, compare };

  std::string method;
  DraftAttributes run = {};       ///< further attributes of <run>, parameters among them
  std::string inside_run = {};    ///< elements
  DraftAttributes training = {};  ///< replace those of the same name
  std::string optimizer = {};     ///< element; empty: as the method needs
  std::string schedule = {};      ///< element
  std::string first_layers = {};  ///< elements in front of the dense layers
  bool symbols = false;           ///< sequences of symbols in the place of digits
  std::string inside_data = {}, inside_platform = {}, inside_network = {};
  DraftAttributes network = {}, timed_as = {}, workers = {}, worker = {};
  std::string device = "a100-sxm4-80";  ///< of the sites
  std::string beside = {};              ///< elements of the scenario itself
  bool learns = true;                   ///< false: <timing-only>
  bool times_alone = false;             ///< with --timing-only
  std::string split = {};               ///< element
  Question question = Question::run;

  /// Sets or replaces one.
  static void set(DraftAttributes& attributes, const std::string& name, const std::string& value);
  /// As a scenario file; paths in it are relative to wherever that lies.
  std::string xml() const;
};

}  // namespace dadsim::study
