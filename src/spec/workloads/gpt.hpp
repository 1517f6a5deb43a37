#pragma once

#include <cstdint>
#include <string>

#include "spec/workload.hpp"

// Decoders with the layers of GPT-2, which other families are sizes of.

namespace dadsim::spec {

/// What the sizes of a family differ in.
struct GptSize {
  const char* name;
  const char* title;
  std::int64_t width, heads, blocks;
};

/// What families differ in.
struct GptForm {
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  ///< entries of the position table, which grows with longer sequences
  bool dropout = false;        ///< behind the scores of attention and both halves of a block
};

ModelShape gpt_shape(const GptSize& size, const GptForm& form, std::int64_t tokens);

/// One size, for sequences of any length.
Workload gpt_workload(const GptSize& size, const GptForm& form, std::int64_t tokens, std::string source);

/// Any size, `own` and `tokens` where nothing is said.
Workload gpt_family(const GptSize& own, const GptForm& form, std::int64_t tokens, std::string description,
                    std::string source);

}  // namespace dadsim::spec
