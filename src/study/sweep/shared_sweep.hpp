#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "study/sweep/run.hpp"

namespace dadsim::study {

/// A sweep that other processes do in pieces; this one holds its file.
class SharedSweep {
 public:
  /// Opens the file of `points`, or makes it. Throws as open_sweep() does.
  SharedSweep(SweepPoints points, std::string file);

  const SweepPoints& points() const { return points_; }
  std::size_t trials() const;  ///< points times seeds
  /// Trials in each batch that was still to be done when the file was opened.
  const std::vector<std::size_t>& batches() const { return sizes_; }
  /// For do_piece(), as bytes: `count` trials from `first` of a batch on, and of those after it where it has fewer;
  /// `learn_only`: what the first of them learns. Throws std::out_of_range.
  std::string piece(std::size_t batch, std::size_t first, std::size_t count, bool learn_only) const;
  /// As take_piece().
  void take(const std::string& results, const std::string& from);
  /// Trials in the file.
  std::int64_t done();
  /// Closes the file; one that is complete has the same bytes whoever did what. Throws as put_in_order() does.
  void finish();

 private:
  SweepPoints points_;
  std::string file_;
  std::unique_ptr<Database> database_;
  SweepIdentity identity_;
  std::vector<SweepBatch> batches_;
  std::vector<std::size_t> sizes_;
};

}  // namespace dadsim::study
