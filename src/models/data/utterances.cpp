#include <algorithm>
#include <array>
#include <cmath>

#include "models/data/draw.hpp"
#include "models/data/generated.hpp"

namespace dadsim::models {
namespace {

constexpr std::size_t kChannels = kUtteranceChannels;
constexpr std::size_t kPhones = 12;
constexpr std::size_t kMostPhones = 4;

// Variation of the samples; features are of the order of 1.
constexpr double kShortest = 0.4;        // shortest utterance, share of the frames
constexpr double kSlowest = 4.0;         // longest phone ÷ shortest
constexpr double kGlide = 0.7;           // share of each frame that is mixed into the next one, so that phones run into
                                         // each other
constexpr double kSpeakerGain = 0.2;     // standard deviation of the logarithm of the gain, per channel
constexpr double kSpeakerOffset = 0.8;   // standard deviation of the offset, per channel
constexpr double kUtteranceNoise = 1.5;  // noise: standard deviation
constexpr double kNoiseMemory = 0.7;     // correlation of the noise of neighbouring frames

using Frame = std::array<double, kChannels>;

/// Phones of each word. Words come in pairs of opposite order, so that only the order distinguishes them.
constexpr std::array<std::array<int, kMostPhones>, kUtteranceClasses> kWords = {{{0, 1, 2, -1},
                                                                                 {2, 1, 0, -1},
                                                                                 {3, 4, 5, -1},
                                                                                 {5, 4, 3, -1},
                                                                                 {0, 4, 6, 7},
                                                                                 {7, 6, 4, 0},
                                                                                 {8, 1, 9, -1},
                                                                                 {9, 1, 8, -1},
                                                                                 {2, 10, 5, 11},
                                                                                 {11, 5, 10, 2}}};

/// Returns the sound of each phone, the same for every seed.
const std::array<Frame, kPhones>& phones() {
  static const std::array<Frame, kPhones> kTable = [] {
    std::array<Frame, kPhones> table{};
    RandomStream random(0, Purpose::phones);
    for (Frame& phone : table) {
      for (double& value : phone) value = bell(random);
    }
    return table;
  }();
  return kTable;
}

void draw(std::uint32_t index, std::uint64_t seed, std::int64_t length, float* values, std::int32_t& label) {
  RandomStream random(seed, Purpose::utterances, index);
  label = pick(random, kUtteranceClasses);
  const auto& word = kWords[static_cast<std::size_t>(label)];
  const auto frames =
      std::clamp<std::int64_t>(std::llround(uniform(random, kShortest, 1.0) * static_cast<double>(length)), 1, length);
  std::array<double, kMostPhones> ends{};  // ends of the phones; the word ends at `sum`
  double sum = 0;
  for (std::size_t p = 0; p < kMostPhones; ++p) {
    if (word[p] >= 0) sum += uniform(random, 1, kSlowest);
    ends[p] = sum;
  }
  Frame gain{};
  Frame offset{};
  Frame sound{};
  Frame noise{};
  for (std::size_t c = 0; c < kChannels; ++c) {
    gain[c] = std::exp(kSpeakerGain * bell(random));
    offset[c] = kSpeakerOffset * bell(random);
    noise[c] = kUtteranceNoise * bell(random);
  }
  const double fresh = kUtteranceNoise * std::sqrt(1 - kNoiseMemory * kNoiseMemory);
  std::size_t phone = 0;
  std::fill_n(values, length * kUtteranceChannels, 0.0F);
  for (std::int64_t t = 0; t < frames; ++t) {
    while ((static_cast<double>(t) + 0.5) / static_cast<double>(frames) > ends[phone] / sum) ++phone;
    const Frame& target = phones()[static_cast<std::size_t>(word[phone])];
    for (std::size_t c = 0; c < kChannels; ++c) {
      sound[c] = kGlide * sound[c] + (1 - kGlide) * target[c];
      *values++ = static_cast<float>(gain[c] * sound[c] + offset[c] + noise[c]);
      noise[c] = kNoiseMemory * noise[c] + fresh * bell(random);
    }
  }
}

}  // namespace

Samples draw_utterances(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_samples(
      first, count, length * kUtteranceChannels, 1,
      [&](std::uint32_t index, float* values, std::int32_t* label) { draw(index, seed, length, values, *label); });
}

}  // namespace dadsim::models
