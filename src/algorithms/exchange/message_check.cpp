#include "algorithms/exchange/message_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace dadsim::algorithms {
namespace {

/// Segments of one type that follow each other are one; empty ones are none.
using Segments = std::vector<std::pair<step::ElementType, double>>;

void append(Segments& segments, step::ElementType type, double elements) {
  if (elements == 0) return;
  if (!segments.empty() && segments.back().first == type) {
    segments.back().second += elements;
  } else {
    segments.emplace_back(type, elements);
  }
}

std::string in_words(const Segments& segments) {
  std::string text;
  for (const auto& [type, elements] : segments) {
    text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", elements, to_string(type));
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

void check_message(const std::vector<step::Payload>& said, const step::Scope& scope, const compress::Message& message) {
  Segments expected, actual;
  for (const step::Payload& payload : said) append(expected, payload.type, payload.elements.evaluate(scope));
  for (std::size_t i = 0; i < message.segments(); ++i) {
    append(actual, message.segment(i).type, static_cast<double>(message.segment(i).elements));
  }
  if (expected == actual) return;
  std::vector<std::string> symbols;
  for (const step::Payload& payload : said) symbols.push_back(payload.elements.to_string());
  throw std::logic_error(fmt::format("layer {}: a message of {} ({} bytes) where its size in symbols, {}, says {}",
                                     scope.layer->name, in_words(actual), message.size(), fmt::join(symbols, "; "),
                                     in_words(expected)));
}

}  // namespace dadsim::algorithms
