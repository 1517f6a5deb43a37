#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "spec/parameter.hpp"

// The sizes that workloads can be asked for, the same names and ranges in all families.

namespace dadsim::spec {

inline ParameterSpec size_parameter(std::string name, std::int64_t maximum, std::int64_t own, std::string description) {
  return integer_parameter(std::move(name), 1, static_cast<double>(maximum), std::to_string(own),
                           std::move(description));
}

inline ParameterSpec layers_parameter(std::int64_t own) {
  return size_parameter("layers", 10'000, own, "blocks, each of attention and two layers of an MLP");
}
inline ParameterSpec hidden_parameter(std::int64_t own) {
  return size_parameter("hidden", 1'000'000, own, "width of a token");
}
inline ParameterSpec heads_parameter(std::int64_t own) {
  return size_parameter("heads", 10'000, own, "heads of attention, a divisor of hidden");
}
inline ParameterSpec key_heads_parameter(std::int64_t own) {
  return size_parameter("kv-heads", 10'000, own, "heads of keys and values, a divisor of heads");
}
inline ParameterSpec feed_forward_parameter(std::int64_t own) {
  return size_parameter("feed-forward", 10'000'000, own, "width of the MLP between its layers");
}
inline ParameterSpec vocabulary_parameter(std::int64_t own) {
  return size_parameter("vocabulary", 100'000'000, own, "entries of the table of words");
}
/// Samples are sequences of so many tokens, all of them real: shorter texts are packed, and nothing is padded.
inline ParameterSpec sequence_parameter(std::int64_t own) {
  return size_parameter("sequence", 10'000'000, own, "tokens of a sample, none of them padding");
}
inline ParameterSpec masked_parameter(std::int64_t own) {
  return size_parameter("masked", 10'000'000, own, "tokens of a sample that are masked and predicted");
}
inline ParameterSpec image_parameter(std::int64_t own) {
  return size_parameter("image", 10'000, own, "pixels along a side of an image");
}
inline ParameterSpec patch_parameter(std::int64_t own) {
  return size_parameter("patch", 1'000, own, "pixels along a side of a patch, a divisor of image");
}
inline ParameterSpec classes_parameter(std::int64_t own) {
  return size_parameter("classes", 10'000'000, own, "classes that are told apart");
}

/// Throws where `parts` do not divide `whole`.
inline void check_divides(const char* parts_name, std::int64_t parts, const char* whole_name, std::int64_t whole) {
  if (whole % parts == 0) return;
  throw std::invalid_argument(std::string(parts_name) + " " + std::to_string(parts) + " does not divide " + whole_name +
                              " " + std::to_string(whole));
}

}  // namespace dadsim::spec
