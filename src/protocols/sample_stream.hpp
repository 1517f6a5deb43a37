#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dadsim::protocols {

/// The samples that a sensor sees, one after the other and over and over, as places in its data. A sample that was
/// withdrawn does not come again: a model is surer of what it has been trained with than of anything else, and the
/// sensor would take that for drift. Once all are withdrawn, all come again, and is_spent() says so.
class SampleStream {
 public:
  SampleStream() = default;
  /// In the order in which they come; at least one.
  explicit SampleStream(std::vector<std::size_t> places) : left_(std::move(places)) {}

  /// The places of the next `count` samples, each once: fewer where fewer are left.
  std::vector<std::size_t> next(std::size_t count) const;
  void pass(std::int64_t count);
  void withdraw(const std::vector<std::size_t>& places);
  /// Whether what comes has been withdrawn before.
  bool is_spent() const { return spent_; }

 private:
  std::vector<std::size_t> left_, withdrawn_;
  std::size_t at_ = 0;  ///< in `left_`: the next
  bool spent_ = false;
};

}  // namespace dadsim::protocols
