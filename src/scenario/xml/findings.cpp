#include "scenario/xml/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dadsim::scenario {
namespace {

constexpr std::size_t kShown = 100;
// Largest number of findings kept before they are sorted, so that 16 MB of nonsense do not produce gigabytes of
// messages.
constexpr std::size_t kKept = 1000;

}  // namespace

void Findings::add(const Origin& origin, std::string what, std::string remedy) {
  add(origin, Fault{std::move(what), std::move(remedy)});
}

void Findings::add(const Origin& origin, Fault fault) {
  const bool from_file = origin.override_text.empty();
  add(Diagnostic{from_file ? file_ : origin.override_text, from_file ? origin.line : 0, std::move(fault.what),
                 std::move(fault.remedy), fault.not_built, fault.infeasible});
}

void Findings::add(Diagnostic diagnostic) {
  ++added_;
  if (diagnostics_.size() >= kKept) {
    ++beyond_;
    return;
  }
  // One override can cause the same error in many elements.
  const bool repeated = diagnostic.line == 0 && std::ranges::any_of(diagnostics_, [&](const Diagnostic& known) {
                          return known.line == 0 && known.file == diagnostic.file && known.what == diagnostic.what;
                        });
  if (!repeated) diagnostics_.push_back(std::move(diagnostic));
}

void Findings::take(const Findings& other) {
  std::vector<Diagnostic> sorted = other.diagnostics_;
  std::ranges::stable_sort(sorted, {}, &Diagnostic::line);
  for (Diagnostic& diagnostic : sorted) add(std::move(diagnostic));
  beyond_ += other.beyond_;
}

std::string Findings::suggest(std::string_view word, std::span<const std::string> candidates) const {
  return full() ? std::string{} : suggestion(word, candidates);
}

std::string Findings::suggest(spec::NameKind kind, std::string_view word, std::span<const std::string> names) const {
  return full() ? std::string{} : spec::remedy_for_name(kind, word, names);
}

bool Findings::full() const { return diagnostics_.size() >= kKept; }

bool Findings::any_at(const Origin& origin) const {
  const bool from_file = origin.override_text.empty();
  if (from_file && origin.line == 0) return false;  // an origin outside the file has no line
  return std::ranges::any_of(diagnostics_, [&](const Diagnostic& known) {
    return known.file == (from_file ? file_ : origin.override_text) && known.line == (from_file ? origin.line : 0);
  });
}

void Findings::throw_if_any() const {
  if (diagnostics_.empty()) return;
  const auto group = [&](const Diagnostic& diagnostic) {
    if (diagnostic.file == file_) return 0;
    return diagnostic.file.starts_with("--") ? 1 : 2;
  };
  std::vector<Diagnostic> sorted = diagnostics_;
  std::ranges::stable_sort(sorted, [&](const Diagnostic& a, const Diagnostic& b) {
    const int of_a = group(a);
    const int of_b = group(b);
    return of_a != of_b ? of_a < of_b : of_a == 0 && a.line < b.line;
  });
  const std::size_t total = sorted.size() + beyond_;
  if (total > kShown) {
    sorted.resize(kShown);
    sorted.push_back({file_, 0, fmt::format("and {} more errors", total - kShown), ""});
  }
  throw InputError(std::move(sorted));
}

std::string printable(std::string_view text) {
  constexpr std::size_t kCharacters = 60;
  std::string result;
  std::size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0U) == 0x80U;  // continuation of a UTF-8 sequence
    if (!continues && ++characters > kCharacters) return result + "…";
    result += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return result;
}

}  // namespace dadsim::scenario
