#include "compress/message.hpp"

#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <stdexcept>

namespace dadsim::compress {
namespace {

/// Visits each row of a block with the number of entries that come before it.
template <class Block, class Visit>
void for_each_row(Block&& block, Visit&& visit) {
  for (Eigen::Index row = 0; row < block.rows(); ++row) visit(row, row * block.cols());
}

/// Writes each number rounded to a narrower type.
template <class Narrow>
void encode_as(models::ConstBlock numbers, std::byte* bytes) {
  for_each_row(numbers, [&](Eigen::Index row, Eigen::Index first) {
    for (Eigen::Index column = 0; column < numbers.cols(); ++column) {
      const Narrow narrow(numbers(row, column));
      std::memcpy(bytes + (first + column) * static_cast<Eigen::Index>(sizeof narrow), &narrow, sizeof narrow);
    }
  });
}

template <class Narrow>
void decode_as(const std::byte* bytes, models::MutableBlock into) {
  for_each_row(into, [&](Eigen::Index row, Eigen::Index first) {
    for (Eigen::Index column = 0; column < into.cols(); ++column) {
      Narrow narrow;
      std::memcpy(&narrow, bytes + (first + column) * static_cast<Eigen::Index>(sizeof narrow), sizeof narrow);
      into(row, column) = static_cast<float>(narrow);
    }
  });
}

std::uint64_t low_bits(int width) { return (std::uint64_t{1} << width) - 1; }

}  // namespace

std::int64_t Message::MessageSegment::bytes() const { return (elements * step::bits(type) + 7) / 8; }

std::int64_t Message::size() const {
  return std::accumulate(pieces_.begin(), pieces_.end(), std::int64_t{0},
                         [](std::int64_t sum, const MessagePiece& piece) {
                           return sum + static_cast<std::int64_t>(piece.bytes().size());
                         });
}

std::byte* Encoder::append(step::ElementType type, std::int64_t elements) {
  Message::MessagePiece& piece = message_.pieces_.emplace_back();
  piece.segment = {type, elements};
  piece.own.resize(static_cast<std::size_t>(piece.segment.bytes()));
  return piece.own.data();
}

void Encoder::fp32(models::ConstBlock numbers) {
  const bool in_one_piece = numbers.rows() <= 1 || numbers.outerStride() == numbers.cols();
  if (in_one_piece) {
    Message::MessagePiece& piece = message_.pieces_.emplace_back();
    piece.segment = {step::ElementType::float32, numbers.size()};
    piece.elsewhere = std::as_bytes(std::span<const float>(numbers.data(), static_cast<std::size_t>(numbers.size())));
    return;
  }
  encode_as<float>(numbers, append(step::ElementType::float32, numbers.size()));
}

void Encoder::fp32(float number) { std::memcpy(append(step::ElementType::float32, 1), &number, sizeof number); }

void Encoder::fp32_copied(std::span<const float> numbers) {
  std::byte* bytes = append(step::ElementType::float32, std::ssize(numbers));
  if (!numbers.empty()) std::memcpy(bytes, numbers.data(), numbers.size_bytes());
}

void Encoder::packed(std::span<const std::uint32_t> codes, int width) {
  std::byte* bytes = append(step::ElementType::bit, std::ssize(codes) * width);
  std::uint64_t waiting = 0;
  int bits = 0;
  for (const std::uint32_t code : codes) {
    waiting |= (code & low_bits(width)) << bits;
    for (bits += width; bits >= 8; bits -= 8, waiting >>= 8U) *bytes++ = static_cast<std::byte>(waiting);
  }
  if (bits > 0) *bytes = static_cast<std::byte>(waiting);
}

void Encoder::fp16(models::ConstBlock numbers) {
  encode_as<Eigen::half>(numbers, append(step::ElementType::float16, numbers.size()));
}

void Encoder::bf16(models::ConstBlock numbers) {
  encode_as<Eigen::bfloat16>(numbers, append(step::ElementType::bfloat16, numbers.size()));
}

void Encoder::int8(std::span<const std::int8_t> numbers) {
  std::byte* bytes = append(step::ElementType::int8, std::ssize(numbers));
  if (!numbers.empty()) std::memcpy(bytes, numbers.data(), numbers.size_bytes());
}

void Encoder::int32(std::span<const std::int32_t> numbers) {
  std::byte* bytes = append(step::ElementType::int32, std::ssize(numbers));
  if (!numbers.empty()) std::memcpy(bytes, numbers.data(), numbers.size_bytes());
}

const std::byte* Decoder::next(step::ElementType type, std::int64_t elements) {
  const Message::MessageSegment asked{type, elements};
  if (next_ >= message_.segments() || message_.segment(next_) != asked) {
    throw std::logic_error(fmt::format(
        "reading {} of {}, but the message has {}", elements, to_string(type),
        next_ >= message_.segments()
            ? std::string("ended")
            : fmt::format("{} of {}", message_.segment(next_).elements, to_string(message_.segment(next_).type))));
  }
  return message_.pieces_[next_++].bytes().data();
}

void Decoder::fp32(models::MutableBlock into) {
  const std::byte* bytes = next(step::ElementType::float32, into.size());
  const auto row_bytes = static_cast<std::size_t>(into.cols()) * sizeof(float);
  if (row_bytes == 0) return;
  for_each_row(into, [&](Eigen::Index row, Eigen::Index first) {
    std::memcpy(&into(row, 0), bytes + first * static_cast<Eigen::Index>(sizeof(float)), row_bytes);
  });
}

float Decoder::fp32() {
  float number = 0;
  std::memcpy(&number, next(step::ElementType::float32, 1), sizeof number);
  return number;
}

void Decoder::fp32(std::span<float> into) {
  const std::byte* bytes = next(step::ElementType::float32, std::ssize(into));
  if (!into.empty()) std::memcpy(into.data(), bytes, into.size_bytes());
}

void Decoder::packed(std::span<std::uint32_t> into, int width) {
  const std::byte* bytes = next(step::ElementType::bit, std::ssize(into) * width);
  std::uint64_t waiting = 0;
  int bits = 0;
  for (std::uint32_t& code : into) {
    for (; bits < width; bits += 8) waiting |= std::to_integer<std::uint64_t>(*bytes++) << bits;
    code = static_cast<std::uint32_t>(waiting & low_bits(width));
    waiting >>= width;
    bits -= width;
  }
}

void Decoder::fp16(models::MutableBlock into) {
  decode_as<Eigen::half>(next(step::ElementType::float16, into.size()), into);
}

void Decoder::bf16(models::MutableBlock into) {
  decode_as<Eigen::bfloat16>(next(step::ElementType::bfloat16, into.size()), into);
}

void Decoder::int8(std::span<std::int8_t> into) {
  const std::byte* bytes = next(step::ElementType::int8, std::ssize(into));
  if (!into.empty()) std::memcpy(into.data(), bytes, into.size_bytes());
}

void Decoder::int32(std::span<std::int32_t> into) {
  const std::byte* bytes = next(step::ElementType::int32, std::ssize(into));
  if (!into.empty()) std::memcpy(into.data(), bytes, into.size_bytes());
}

}  // namespace dadsim::compress
