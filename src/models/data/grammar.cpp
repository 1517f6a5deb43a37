#include <string>

#include "models/data/draw.hpp"
#include "models/data/generated.hpp"

namespace dadsim::models {
namespace {

constexpr int kDeepest = 3;        // nesting depth of brackets
constexpr double kBracket = 0.35;  // share of terms in brackets, down to the greatest depth

int sum(RandomStream& random, int depth, std::string& text);

int term(RandomStream& random, int depth, std::string& text) {
  if (depth >= kDeepest || uniform01(random) >= kBracket) {
    const int digit = pick(random, 10);
    text += static_cast<char>('0' + digit);
    return digit;
  }
  const auto kind = static_cast<std::size_t>(pick(random, 3));
  text += std::string_view("([{")[kind];
  const int value = sum(random, depth + 1, text);
  text += std::string_view(")]}")[kind];
  return value;
}

int sum(RandomStream& random, int depth, std::string& text) {
  const int left = term(random, depth, text);
  const int op = pick(random, 3);
  text += std::string_view("+-*")[static_cast<std::size_t>(op)];
  const int right = term(random, depth, text);
  return (op == 0 ? left + right : op == 1 ? left - right + 10 : left * right) % 10;
}

void draw(std::uint32_t index, std::uint64_t seed, std::int64_t length, float* symbols, std::int32_t* next) {
  RandomStream random(seed, Purpose::grammar, index);
  std::string text;
  while (static_cast<std::int64_t>(text.size()) <= length) {
    const int value = sum(random, 0, text);
    text += '=';
    text += static_cast<char>('0' + value);
    text += ';';
  }
  for (std::int64_t i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    symbols[i] = static_cast<float>(kGrammarAlphabet.find(text[at]));
    next[i] = static_cast<std::int32_t>(kGrammarAlphabet.find(text[at + 1]));
  }
}

}  // namespace

Samples draw_grammar(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_samples(first, count, length, length, [&](std::uint32_t index, float* symbols, std::int32_t* next) {
    draw(index, seed, length, symbols, next);
  });
}

}  // namespace dadsim::models
