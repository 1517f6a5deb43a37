#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/matrix.hpp"
#include "step/expression.hpp"

namespace dadsim::compress {

/// Encoded numbers in transit from one node to another. Its size is the length of its bytes. Receivers read numbers
/// with a Decoder, so that only encoded numbers arrive.
class Message {
 public:
  /// Consecutive elements of one type.
  struct MessageSegment {
    step::ElementType type = step::ElementType::float32;
    std::int64_t elements = 0;
    std::int64_t bytes() const;
    bool operator==(const MessageSegment&) const = default;
  };

  std::int64_t size() const;  ///< bytes
  std::size_t segments() const { return pieces_.size(); }
  const MessageSegment& segment(std::size_t i) const { return pieces_[i].segment; }

 private:
  friend class Encoder;
  friend class Decoder;
  /// Bytes of a segment. Numbers already in the sent format (fp32) are not copied: they must live until the message is
  /// decoded.
  struct MessagePiece {
    MessageSegment segment;
    std::vector<std::byte> own;
    std::span<const std::byte> elsewhere;
    std::span<const std::byte> bytes() const { return own.empty() ? elsewhere : std::span<const std::byte>(own); }
  };
  std::vector<MessagePiece> pieces_;
};

/// Writes numbers into a message, segment by segment. Matrices go row by row.
class Encoder {
 public:
  void fp32(models::ConstBlock numbers);
  void fp32(float number);
  /// Copies numbers that do not outlive the message.
  void fp32_copied(std::span<const float> numbers);
  /// Writes the lowest `width` bits (1 … 32) of each code, consecutively.
  void packed(std::span<const std::uint32_t> codes, int width);
  void fp16(models::ConstBlock numbers);  ///< IEEE 754 binary16, to the nearest, ties to even
  void bf16(models::ConstBlock numbers);  ///< the upper half of binary32, to the nearest, ties to even
  void int8(std::span<const std::int8_t> numbers);
  void int32(std::span<const std::int32_t> numbers);
  Message take() { return std::move(message_); }

 private:
  std::byte* append(step::ElementType type, std::int64_t elements);
  Message message_;
};

/// Reads a message in the order in which it was written. Throws std::logic_error if the next elements have another type
/// or number than requested.
class Decoder {
 public:
  explicit Decoder(const Message& message) : message_(message) {}
  void fp32(models::MutableBlock into);
  float fp32();
  void fp32(std::span<float> into);
  void packed(std::span<std::uint32_t> into, int width);
  void fp16(models::MutableBlock into);
  void bf16(models::MutableBlock into);
  void int8(std::span<std::int8_t> into);
  void int32(std::span<std::int32_t> into);

 private:
  const std::byte* next(step::ElementType type, std::int64_t elements);
  const Message& message_;
  std::size_t next_ = 0;
};

}  // namespace dadsim::compress
