#pragma once

#include <algorithm>
#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Finds rows in messages, by their numbers alone: a row stands in a message where one of its rows is as near as the
/// error of the encoding allows. Rows of zeros stand nowhere: they would stand in everything.
class RowFinder {
 public:
  /// A message that is looked through, by all that look for their rows in it. Its rows have their length and the column
  /// of their largest number worked out where these are needed.
  class FoundMessage {
   public:
    /// Of rows that stay where they are the first `columns` numbers, or as many as there are.
    FoundMessage(const models::ConstBlock& rows, Eigen::Index columns)
        : rows_(rows), columns_(std::min(columns, rows.cols())) {}

    Eigen::Index rows() const { return rows_.rows(); }
    Eigen::Index columns() const { return columns_; }
    const float* row(Eigen::Index k) const { return rows_.data() + k * rows_.outerStride(); }

    struct RowSize {
      double norm = -1;
      Eigen::Index largest = 0;
    };
    const RowSize& size(Eigen::Index k);

   private:
    models::ConstBlock rows_;
    Eigen::Index columns_;
    std::vector<RowSize> of_rows_;
  };

  /// Rows that are looked for, as they lie in memory; they are to stay there.
  explicit RowFinder(const models::ConstBlock& rows);

  std::size_t rows() const { return zero_.size(); }
  bool is_zero(std::size_t row) const;

  /// Sets found[i] to 1 for each row i that is row i of `block` in memory: of what has been sent to the bit nothing
  /// needs to be compared. Returns whether all that are not zero are.
  bool find_in_place(const models::ConstBlock& block, std::vector<char>& found) const;

  /// Sets found[i] to 1 for each row that stands in `message`, as wide as the rows, within `tolerance` × its norm.
  /// `guess`: row i may well be row guess + i there, which is looked at first.
  void find(FoundMessage& message, double tolerance, Eigen::Index guess, std::vector<char>& found) const;

 private:
  const float* own(std::size_t row) const {
    return rows_.data() + static_cast<Eigen::Index>(row) * rows_.outerStride();
  }
  double norm(std::size_t row) const;
  /// Whether `row` is as near to row k of the message.
  bool is_near(std::size_t row, FoundMessage& message, Eigen::Index k, double tolerance) const;
  void find_by_pairs(FoundMessage& message, double tolerance, std::vector<char>& found) const;
  void find_sorted(FoundMessage& message, double tolerance, std::vector<char>& found) const;

  models::ConstBlock rows_;
  // Worked out where it is asked for; below 0: not yet. A finder is one thread's own.
  mutable std::vector<signed char> zero_;
  mutable std::vector<double> norms_;
};

/// The tolerance for what arrived with this relative error of its encoding: that of fp32 (2⁻²²) at least, and 1.5 times
/// the error, since that is a mean over rows. Where more than 1/16 is lost no row is handed over: what is left of it is
/// the span's affair, and −1 is returned.
double tolerance_of(double error);

}  // namespace dadsim::algorithms
