#include "formats/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/json.hpp"
#include "formats/launch_arguments.csv.hpp"
#include "support/diagnostics.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"

namespace dadsim::formats {
namespace {

enum class LaunchFormat : std::uint8_t { line, toml, json };
constexpr std::array<std::pair<const char*, LaunchFormat>, 4> kFrameworks{{{"megatron", LaunchFormat::line},
                                                                           {"torchtitan", LaunchFormat::toml},
                                                                           {"megatron-bridge", LaunchFormat::line},
                                                                           {"deepspeed", LaunchFormat::json}}};
constexpr const char* kAlways = "always";
constexpr std::string_view kAbsent = "~";
constexpr std::size_t kMostOfLaunch = std::size_t{256} << 10U;
constexpr double kMostNumber = 1e12;

LaunchFormat format_of(const std::string& framework) {
  return std::ranges::find(kFrameworks, framework, [](const auto& one) { return std::string(one.first); })->second;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view part : split_at(text, separator)) parts.emplace_back(part);
  return parts;
}

/// A row of launch_arguments.csv.
struct LaunchRow {
  std::string quantity, framework, argument;
  std::vector<std::pair<std::string, std::vector<std::string>>> pairs;  ///< values in dadsim, each with its spellings
                                                                        ///< in the framework
  bool number = false, real = false;
  std::string otherwise;  ///< value if the argument is absent: a number, or the name of a quantity with the same value;
                          ///< empty: unknown
  bool list = false;      ///< true: the value is a list of the words in `pairs`

  const std::vector<std::string>* written_as(const std::string& value) const {
    const auto found = std::ranges::find_if(pairs, [&](const auto& pair) { return pair.first == value; });
    return found == pairs.end() ? nullptr : &found->second;
  }
  /// Returns the framework's spelling of a value; nothing if the argument cannot express it.
  std::optional<std::string> theirs(const std::string& value) const {
    if (list) return their_list(value);
    if (const auto* pair = written_as(value)) return pair->front();
    const bool fits = real || (number && parse_whole<std::int64_t>(value));
    return fits ? std::optional(value) : std::nullopt;
  }
  /// Returns a list in the framework's words: separate words after an option, otherwise in brackets.
  std::optional<std::string> their_list(const std::string& value) const {
    const bool words = argument.starts_with('-');
    std::string text;
    for (const std::string& word : words_of(value)) {
      const auto* pair = written_as(word);
      if (pair == nullptr) return std::nullopt;
      text += (text.empty() ? "" : words ? " " : ",") + pair->front();
    }
    return words ? text : '[' + text + ']';
  }
  /// Returns the framework's list in dadsim's words; nothing if a word is unknown.
  std::optional<std::string> our_list(std::string value) const {
    std::ranges::replace_if(
        value, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
    std::string text;
    for (const std::string& word : words_of(value)) {
      const auto found =
          std::ranges::find_if(pairs, [&](const auto& pair) { return std::ranges::count(pair.second, word) > 0; });
      if (found == pairs.end()) return std::nullopt;
      text += (text.empty() ? "" : " ") + found->first;
    }
    return text;
  }
};

LaunchRow row_of(const FactTable::Row& facts) {
  LaunchRow row{facts.text("quantity"), facts.text("framework"), facts.optional_text("argument"), {}, false, false, {}};
  for (const std::string& word : words_of(facts.optional_text("form"))) {
    const std::size_t colon = word.find(':');
    if (colon != std::string::npos) {
      row.pairs.emplace_back(word.substr(0, colon), parts_of(std::string_view(word).substr(colon + 1), '|'));
      continue;
    }
    row.list = row.list || word == "L";
    row.number = word.front() == 'N';
    row.real = word.front() == 'X';
    if (const std::size_t bar = word.find('|'); bar != std::string::npos) row.otherwise = word.substr(bar + 1);
  }
  return row;
}

const std::vector<LaunchRow>& rows() {
  static const FactTable kTable(tables::kLaunchArguments,
                                {"quantity", "framework", "argument", "form", "checked", "version", "date", "source"},
                                3);
  static const std::vector<LaunchRow> kRows = kTable.each(row_of);
  return kRows;
}

std::vector<const LaunchRow*> rows_of(const std::string& framework, const std::string& quantity = "") {
  std::vector<const LaunchRow*> some;
  for (const LaunchRow& row : rows()) {
    if (row.framework == framework && (quantity.empty() || row.quantity == quantity)) some.push_back(&row);
  }
  return some;
}

/// An argument in a launch file.
struct Argument {
  std::string name, value;
  int line = 0;
};

/// Returns whether JSON writes the value without quotes: a number, true, false or null.
bool is_bare(std::string_view value) {
  return value == "true" || value == "false" || value == "null" || parse_whole<std::int64_t>(value) ||
         parse_whole<double>(value);
}

std::string quoted(const std::string& value) { return is_bare(value) ? value : '"' + value + '"'; }

std::string as_line(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& one : arguments) {
    text += (text.empty() ? "" : " \\\n  ") + one.name;
    if (!one.value.empty()) text += (one.name.starts_with('-') ? ' ' : '=') + one.value;
  }
  return text + '\n';
}

std::string as_toml(std::vector<Argument> arguments) {
  const auto section_of = [](const Argument& one) { return one.name.substr(0, one.name.rfind('.')); };
  std::ranges::stable_sort(arguments, {}, section_of);
  std::string text, section;
  for (const Argument& one : arguments) {
    if (section_of(one) != section) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section_of(one));
    section = section_of(one);
    const bool list = one.value.starts_with('[');
    const std::string value = list ? '[' + quoted(one.value.substr(1, one.value.size() - 2)) + ']' : quoted(one.value);
    text += fmt::format("{} = {}\n", one.name.substr(section.size() + 1), value);
  }
  return text;
}

std::string as_json(const std::vector<Argument>& arguments) {
  Json root = Json::object();
  for (const Argument& one : arguments) {
    Json* at = &root;
    for (const std::string& part : parts_of(one.name, '.')) at = &(*at)[part];
    *at = Json::parse(quoted(one.value));
  }
  constexpr int kIndent = 2;
  return root.dump(kIndent) + '\n';
}

/// Returns the words of a command line with their line numbers, without quotes, comments and line continuations.
std::vector<Argument> words_of_line(std::string_view text) {
  std::vector<Argument> words;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    bool open = false;
    char quote = 0;
    for (const char c : line) {
      const bool blank = c == ' ' || c == '\t' || c == '\r';
      if (quote != 0 ? c == quote : c == '"' || c == '\'') {
        quote = quote != 0 ? '\0' : c;
      } else if (quote == 0 && (blank || c == '\\')) {
        open = false;
      } else if (quote == 0 && !open && c == '#') {
        break;
      } else {
        if (!open) words.push_back({"", "", number});
        words.back().name += c;
        open = true;
      }
    }
  }
  return words;
}

std::vector<Argument> read_line(const std::string& text) {
  std::vector<Argument> arguments;
  for (Argument& word : words_of_line(text)) {
    const std::size_t equals = word.name.find('=');
    if (word.name.starts_with("--") || (equals != std::string::npos && equals > 0)) {
      std::string value = equals == std::string::npos ? "" : word.name.substr(equals + 1);
      word.name.resize(std::min(equals, word.name.size()));
      while (word.name.starts_with('+')) word.name.erase(0, 1);  // prefix of Hydra's keys
      if (word.name.starts_with("--")) std::ranges::replace(word.name, '_', '-');
      arguments.push_back({word.name, std::move(value), word.line});
    } else if (!arguments.empty() && arguments.back().name.starts_with("--")) {
      std::string& value = arguments.back().value;
      value += (value.empty() ? "" : " ") + word.name;
    }
  }
  return arguments;
}

int line_at(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

/// Returns a list as [a,b], a string without its quotes, and any other value as JSON writes it.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const Json& one : value)
    list += (list.empty() ? "" : ",") + (one.is_string() ? one.get<std::string>() : one.dump());
  return '[' + list + ']';
}

/// Returns a value in TOML (a string, a number, true, false or a list), or one line of a longer list, as JSON, without
/// its comment.
std::string json_of_toml(std::string_view line) {
  std::string json;
  char quote = 0;
  for (const char c : trimmed(line)) {
    if (quote == 0 && c == '#') break;
    const bool turns = quote != 0 ? c == quote : c == '"' || c == '\'';
    if (turns) quote = quote != 0 ? '\0' : c;
    if (quote != 0 || c != '_') json += turns ? '"' : c;
  }
  return std::string(trimmed(json));
}

std::vector<Argument> read_toml(const std::string& file, const std::string& text) {
  std::vector<Argument> arguments;
  std::set<std::string> names;
  std::string section;
  const std::vector<std::string_view> lines = split_at(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    const auto refuse = [&](const char* what, const char* remedy) { throw InputError({file, number, what, remedy}); };
    const std::string_view line = trimmed(lines[i]);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      const std::size_t end = line.find(']');
      if (end == std::string_view::npos || line.starts_with("[["))
        refuse("is not a section of torchtitan's TOML",
               "write [parallelism], [training] or another section alone on its line");
      section = std::string(trimmed(line.substr(1, end - 1))) + '.';
      continue;
    }
    if (equals == std::string_view::npos) refuse("has no '='", "write key = value");
    std::string value = json_of_toml(line.substr(equals + 1));
    // A list may span several lines, and may have a comma after its last value.
    while (value.starts_with('[') && !value.ends_with(']') && i + 1 < lines.size()) value += json_of_toml(lines[++i]);
    if (value.starts_with('[') && value.ends_with(",]")) value.erase(value.size() - 2, 1);
    const Json read = Json::parse(value, nullptr, false);
    if (read.is_discarded() || read.is_object())
      refuse("has a value that is not a string, a number, true, false or a list of these",
             "write a value of one of these types");
    std::string name = section + std::string(trimmed(line.substr(0, equals)));
    if (!names.insert(name).second) refuse("has a key for the second time", "remove one of the two");
    arguments.push_back({std::move(name), text_of(read), number});
  }
  return arguments;
}

/// Appends the values of an object as arguments with dotted names of at most five parts; deeper objects are left out.
/// `from`: position of the previous key in `text`; npos once a key has not been found.
void flatten(const Json& object, const std::string& prefix, std::string_view text, std::size_t& from,
             std::vector<Argument>& arguments) {
  constexpr std::ptrdiff_t kDeepest = 4;
  for (const auto& [key, value] : object.items()) {
    if (from != std::string_view::npos) from = text.find('"' + key + '"', from);
    const int line = from == std::string_view::npos ? 0 : line_at(text, from);
    if (!value.is_object()) {
      arguments.push_back({prefix + key, text_of(value), line});
    } else if (std::ranges::count(prefix, '.') < kDeepest) {
      flatten(value, prefix + key + '.', text, from, arguments);
    }
  }
}

std::vector<Argument> read_json(const std::string& file, const std::string& text) {
  std::vector<Argument> arguments;
  try {
    std::size_t from = 0;
    flatten(Json::parse(text), "", text, from, arguments);
  } catch (const Json::parse_error& fault) {
    throw InputError({file, line_at(text, std::min(fault.byte, text.size())), "is not valid JSON from here on",
                      "correct the comma, quote or bracket before it"});
  } catch (const Json::exception&) {
    throw InputError({file, 0, "is JSON with text that is not UTF-8", "save it as UTF-8"});
  }
  return arguments;
}

/// Reads settings from arguments, quantity by quantity, and collects the faults.
class LaunchReader {
 public:
  LaunchReader(std::string file, const std::vector<Argument>& arguments) : file_(std::move(file)) {
    for (const Argument& one : arguments)
      // A repeated argument replaces earlier ones.
      arguments_.insert_or_assign(one.name, one);
  }

  LaunchFile read(const std::string& framework) {
    std::map<std::string, std::string>
        defaults;  // default of each quantity without an argument: a number, or the name of another quantity
    std::vector<std::string> seen{kAlways};
    for (const LaunchRow* row : rows_of(framework)) {
      if (std::ranges::count(seen, row->quantity) > 0) continue;
      seen.push_back(row->quantity);
      row->number || row->real ? read_number(*row)
      : row->list              ? read_list(*row)
                               : read_choice(rows_of(framework, row->quantity));
      if (!row->otherwise.empty() && !result_.entries.contains(row->quantity))
        defaults.emplace(row->quantity, row->otherwise);
    }
    for (const auto& [quantity, otherwise] : defaults) {
      const auto said = result_.entries.find(otherwise);
      const auto other = defaults.find(otherwise);
      result_.entries[quantity].value = said != result_.entries.end() ? said->second.value
                                        : other != defaults.end()     ? other->second
                                                                      : otherwise;
    }
    if (!faults_.empty()) throw InputError(std::move(faults_));
    return std::move(result_);
  }

 private:
  const Argument* argument_of(const LaunchRow& row) const {
    const auto found = arguments_.find(row.argument);
    return row.argument.empty() || found == arguments_.end() ? nullptr : &found->second;
  }

  void fault(const Argument& argument, const std::string& remedy) {
    constexpr std::size_t kMostShown = 60;
    const std::string value = with_hidden_characters_shown(argument.value.substr(0, kMostShown));
    faults_.push_back({file_, argument.line, fmt::format("{} is '{}'", argument.name, value), remedy});
  }
  void take(const std::string& quantity, const std::string& value, const Argument* argument) {
    result_.entries[quantity] = argument != nullptr ? LaunchFile::LaunchEntry{value, argument->name, argument->line}
                                                    : LaunchFile::LaunchEntry{value, "", 0};
  }

  static bool matches(const std::vector<std::string>& forms, const Argument* argument) {
    return std::ranges::any_of(forms, [&](const std::string& form) {
      return argument == nullptr ? form == kAbsent : form != kAbsent && form == argument->value;
    });
  }

  void read_number(const LaunchRow& row) {
    const Argument* argument = argument_of(row);
    for (const auto& [ours, forms] : row.pairs) {
      if (matches(forms, argument)) return take(row.quantity, ours, argument);
    }
    if (argument == nullptr) return;
    // Words that belong to no argument may follow an argument's number.
    const std::string first = argument->value.substr(0, argument->value.find(' '));
    const double number = parse_whole<double>(first).value_or(0);
    if (!(number >= (row.real ? 0 : 1) && number > 0 && number <= kMostNumber &&
          (row.real || std::trunc(number) == number)))
      return fault(*argument, row.real ? "a number above 0" : "a whole number from 1");
    take(row.quantity, row.real ? first : fmt::format("{:.0f}", number), argument);
  }

  void read_list(const LaunchRow& row) {
    const Argument* argument = argument_of(row);
    if (argument == nullptr) return;
    const std::optional<std::string> ours = row.our_list(argument->value);
    if (ours && !ours->empty()) return take(row.quantity, *ours, argument);
    std::vector<std::string> known;
    for (const auto& [_, theirs] : row.pairs) known.push_back(theirs.front());
    fault(*argument, fmt::format("use some of {}", fmt::join(known, ", ")));
  }

  /// Takes the value whose rows all match the arguments; if several do, the one with the largest number of rows whose
  /// argument is given.
  void read_choice(const std::vector<const LaunchRow*>& same) {
    const LaunchRow* first = nullptr;
    for (const LaunchRow* row : same) {
      if (first == nullptr && argument_of(*row) != nullptr) first = row;
    }
    std::ptrdiff_t most = -1;
    std::string taken;
    for (const LaunchRow* one : same) {
      for (const auto& [value, _] : one->pairs) {
        const bool all = std::ranges::all_of(same, [&, &ours = value](const LaunchRow* row) {
          const auto* forms = row->written_as(ours);
          return forms == nullptr ? argument_of(*row) == nullptr : matches(*forms, argument_of(*row));
        });
        const std::ptrdiff_t count = std::ranges::count_if(same, [&, &ours = value](const LaunchRow* row) {
          return argument_of(*row) != nullptr && row->written_as(ours) != nullptr;
        });
        if (!all || count <= most) continue;
        most = count;
        taken = value;
      }
    }
    if (most >= 0) return take(same.front()->quantity, taken, first != nullptr ? argument_of(*first) : nullptr);
    if (first == nullptr) return;
    std::set<std::string> forms;
    for (const auto& [ours, theirs] : first->pairs) {
      for (const std::string& form : theirs)
        forms.insert(form == kAbsent ? "no such argument" : form.empty() ? "no value" : form);
    }
    fault(*argument_of(*first),
          fmt::format("use one of {}, with the other arguments that docs/launch.md lists", fmt::join(forms, ", ")));
  }

  std::string file_;
  std::map<std::string, Argument> arguments_;
  LaunchFile result_;
  std::vector<Diagnostic> faults_;
};

/// Returns true if a text contains an argument in the notation of the format; in JSON, the first part of its name is
/// enough.
bool holds(const std::string& text, LaunchFormat format, const std::string& argument) {
  const auto has = [&](const std::string& word) { return text.find(word) != std::string::npos; };
  const std::size_t dot = argument.rfind('.');
  if (format == LaunchFormat::json) return has('"' + argument.substr(0, argument.find('.')) + '"');
  return format == LaunchFormat::line ? has(argument)
                                      : has('[' + argument.substr(0, dot) + ']') && has(argument.substr(dot + 1));
}

}  // namespace

std::vector<std::string> launch_frameworks() {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFrameworks) names.emplace_back(name);
  return names;
}

bool can_say(const std::string& framework, const LaunchSetting& setting) {
  return std::ranges::any_of(rows_of(framework, setting.quantity),
                             [&](const LaunchRow* row) { return row->theirs(setting.value).has_value(); });
}

std::string to_launch_file(const std::string& framework, const std::vector<LaunchSetting>& settings,
                           const std::vector<std::string>& remarks) {
  std::vector<Argument> arguments;
  for (const LaunchRow* row : rows_of(framework)) {
    if (row->quantity == kAlways) arguments.push_back({row->argument, "", 0});
    const auto setting = std::ranges::find(settings, row->quantity, &LaunchSetting::quantity);
    if (setting == settings.end()) continue;
    const std::optional<std::string> value = row->theirs(setting->value);
    if (value && *value != kAbsent) arguments.push_back({row->argument, *value, 0});
  }
  if (format_of(framework) == LaunchFormat::json) return as_json(arguments);
  std::string text;
  for (const std::string& remark : remarks) text += "# " + remark + '\n';
  return text + (format_of(framework) == LaunchFormat::toml ? as_toml(std::move(arguments)) : as_line(arguments));
}

std::string framework_of_launch(const std::string& text) {
  constexpr std::array<std::string_view, 5> kTelling{"tensor", "global-batch", "micro-batch", "local-batch",
                                                     "sharding"};
  if (text.size() > kMostOfLaunch) return {};
  const bool braces = trimmed(text).starts_with('{');
  std::string best;
  std::ptrdiff_t most = 0;
  for (const auto& [name, format] : kFrameworks) {
    if (braces != (format == LaunchFormat::json)) continue;
    const std::ptrdiff_t count = std::ranges::count_if(rows_of(name), [&, form = format](const LaunchRow* row) {
      return std::ranges::find(kTelling, row->quantity) != kTelling.end() && !row->argument.empty() &&
             holds(text, form, row->argument);
    });
    if (count <= most) continue;
    most = count;
    best = name;
  }
  return best;
}

LaunchFile read_launch_file(const std::string& file, const std::string& framework, const std::string& text) {
  const LaunchFormat format = format_of(framework);
  LaunchReader reader(file, format == LaunchFormat::line   ? read_line(text)
                            : format == LaunchFormat::toml ? read_toml(file, text)
                                                           : read_json(file, text));
  return reader.read(framework);
}

}  // namespace dadsim::formats
