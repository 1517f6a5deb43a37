#include "models/data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "models/data/line_errors.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

// Largest size of a text, bytes; it takes three times as much memory.
constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 27U;
constexpr std::int64_t kMaxVocabulary = 4096;  // largest number of different symbols, whose numbers have 16 bits
constexpr std::uint32_t kLastCharacter = 0x10ffff;
const char* const kTextForm = "plain text in UTF-8";

/// Removes the code point at the start of `text` and returns it; above kLastCharacter if there is none (RFC 3629).
std::uint32_t next_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || size > text.size()) return kLastCharacter + 1;
  std::uint32_t point = size == 1 ? lead : lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return kLastCharacter + 1;
    point = point << 6U | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (overlong || surrogate || point > kLastCharacter) return kLastCharacter + 1;
  text.remove_prefix(size);
  return point;
}

/// Calls `visit(character)` for each character after a byte order mark. Throws InputError for invalid UTF-8.
template <class Visit>
void for_each_character(std::string_view text, const std::string& name, const Visit& visit) {
  const std::size_t bytes = text.size();
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  LineErrors errors(name);
  std::int64_t line = 1;
  while (!text.empty() && !errors.full()) {
    const std::size_t at = bytes - text.size();
    const std::uint32_t character = next_character(text);
    if (character > kLastCharacter) {
      errors.add(line, fmt::format("byte {} is not UTF-8 (0x{:02x})", at, static_cast<unsigned char>(text[0])),
                 kTextForm);
      text.remove_prefix(1);
    } else if (character == 0) {
      errors.add(line, fmt::format("byte {} is NUL", at), kTextForm);
    } else {
      if (character == '\n') ++line;
      visit(character);
    }
  }
  errors.throw_if_any();
}

TextSymbols open_text(const spec::TextSource& source) {
  SourceBytes bytes = SourceBytes::open(source.file, kTextForm);
  return read_text(bytes, source.test_share);
}

spec::DataFacts facts_of(const TextSymbols& text, const spec::TextSource& source) {
  const auto all = static_cast<std::int64_t>(text.symbols.size());
  spec::DataFacts facts;
  facts.train = windows_in(text.train, source.length);
  facts.test = windows_in(all - text.train, source.length);
  if (facts.train < 1 || *facts.test < 1) {
    throw InputError(Diagnostic{source.file, 0,
                                fmt::format("{} training and {} held-back characters are too few: each part needs one "
                                            "sample of {} characters and the next character",
                                            text.train, all - text.train, source.length),
                                "use a longer text, or a smaller length"});
  }
  facts.shape = {1, source.length, 1, text.vocabulary};
  facts.classes = text.vocabulary;
  facts.labels_per_sample = source.length;
  return facts;
}

}  // namespace

TextSymbols read_text(SourceBytes& bytes, double test_share) {
  // The text is read three times, so that only two-byte symbols are kept in addition to it.
  const std::string content = bytes.rest(kMaxTextBytes);
  std::int64_t all = 0;
  for_each_character(content, bytes.name(), [&](std::uint32_t /*character*/) { ++all; });
  TextSymbols text;
  const auto held_back = static_cast<std::int64_t>(std::llround(static_cast<double>(all) * test_share));
  text.train = all - std::clamp<std::int64_t>(held_back, 0, all);

  std::vector<bool> present(kLastCharacter + 1);
  std::int64_t at = 0;
  for_each_character(content, bytes.name(), [&](std::uint32_t character) {
    if (at++ < text.train) present[character] = true;
  });
  std::vector<std::uint32_t> known;
  for (std::uint32_t character = 0; character < present.size(); ++character) {
    if (present[character]) known.push_back(character);
  }
  if (static_cast<std::int64_t>(known.size()) >= kMaxVocabulary) {
    bytes.fail(fmt::format("has {} different characters", known.size()),
               fmt::format("use fewer than {} different characters", kMaxVocabulary));
  }
  bool others = false;
  text.symbols.reserve(static_cast<std::size_t>(all));
  for_each_character(content, bytes.name(), [&](std::uint32_t character) {
    const auto found = std::ranges::lower_bound(known, character);
    const bool is_known = found != known.end() && *found == character;
    others = others || !is_known;
    text.symbols.push_back(static_cast<std::uint16_t>(is_known ? found - known.begin() : std::ssize(known)));
  });
  text.vocabulary = std::ssize(known) + (others ? 1 : 0);
  return text;
}

std::int64_t windows_in(std::int64_t symbols, std::int64_t length) { return symbols < 1 ? 0 : (symbols - 1) / length; }

Samples windows_of(const TextSymbols& text, std::int64_t first, std::int64_t count, std::int64_t length) {
  Samples samples;
  samples.labels_per_sample = length;
  samples.features.resize(count, length);
  samples.labels.reserve(static_cast<std::size_t>(count * length));
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t k = 0; k < length; ++k) {
      const auto at = static_cast<std::size_t>(first + row * length + k);
      samples.features(row, k) = static_cast<float>(text.symbols.at(at));
      samples.labels.push_back(static_cast<std::int32_t>(text.symbols.at(at + 1)));
    }
  }
  return samples;
}

spec::DataFacts inspect_text(const spec::TextSource& source) { return facts_of(open_text(source), source); }

Dataset read_text(const spec::TextSource& source) {
  const TextSymbols text = open_text(source);
  const spec::DataFacts facts = facts_of(text, source);
  if (source.train > facts.train || source.test > *facts.test) {
    throw InputError(Diagnostic{
        source.file, 0,
        fmt::format("holds {} training and {} test samples, fewer than the scenario needs", facts.train, *facts.test),
        "use fewer samples"});
  }
  Dataset data;
  data.train = windows_of(text, 0, source.train, source.length);
  data.test = windows_of(text, text.train, source.test, source.length);
  data.shape = facts.shape;
  data.classes = facts.classes;
  data.name = std::filesystem::path(source.file).filename().string();
  return data;
}

}  // namespace dadsim::models
