#include <fmt/format.h>

#include <algorithm>

#include "report/run/result.hpp"
#include "report/text/text_blocks.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using ShiftRow = ShiftEvaluation::Row;

std::string data_in_words(const ShiftRow& row) {
  std::string text = row.severity == 0 ? "as they are" : fmt::format("{} {}", row.corruption, row.severity);
  if (row.label_alpha > 0) text += fmt::format(", classes ~ Dir({:g})", row.label_alpha);
  return text;
}

std::string marked_cell(const ShiftRow& row, std::size_t arm) {
  const bool best = arm == ShiftEvaluation::best_arm(row);
  const bool below = row.accuracies[arm] < row.accuracies.front();
  return fmt::format("{:.1f}{}", 100 * row.accuracies[arm], best ? "*" : below ? "↓" : " ");
}

/// Returns a sentence on the rows in which arm `arm` is below the unchanged model, with the largest difference.
std::string harm_sentence(const std::string& label, const ShiftEvaluation& evaluation, std::size_t arm) {
  const auto loss = [arm](const ShiftRow& row) { return row.accuracies.front() - row.accuracies[arm]; };
  const auto rows = std::ranges::count_if(evaluation.rows, [&](const ShiftRow& row) { return loss(row) > 0; });
  if (rows == 0) return fmt::format("{}: {} is never worse than the uncorrected model.", label, evaluation.arms[arm]);
  const ShiftRow& worst = *std::ranges::max_element(evaluation.rows, {}, loss);
  return fmt::format("{}: {} lowers the accuracy in {} of {} rows, most by {:.1f} points ({}, batches of {}).", label,
                     evaluation.arms[arm], rows, evaluation.rows.size(), 100 * loss(worst), data_in_words(worst),
                     human_count(worst.batch));
}

std::string setting_sentence(const std::string& label, const ShiftEvaluation& evaluation) {
  std::string bytes = human_bytes(evaluation.input_bytes) + " for the inputs";
  if (evaluation.norm_bytes > 0) bytes += fmt::format(", {} for the norms", human_bytes(evaluation.norm_bytes));
  const std::string each = evaluation.fewest == evaluation.most
                               ? human_count(evaluation.fewest)
                               : fmt::format("{} to {}", human_count(evaluation.fewest), human_count(evaluation.most));
  return fmt::format(
      "{}: the model would be sent with {} quantiles of each unit in training, averaged over sites: {}. Each site "
      "corrects its own test batches from {} of {} held-back samples; a larger batch holds all samples of the site.",
      label, evaluation.quantiles, bytes, each, human_count(evaluation.samples));
}

}  // namespace

std::size_t ShiftEvaluation::best_arm(const Row& row) {
  return static_cast<std::size_t>(std::ranges::max_element(row.accuracies) - row.accuracies.begin());
}

std::string shift_heading(const std::string& label) {
  return label + ": accuracy of its last model on shifted data, % (* best, ↓ below source)";
}

std::vector<std::vector<std::string>> shift_rows(const ShiftEvaluation& evaluation) {
  std::vector<std::vector<std::string>> rows{{"held-back data", "batch"}};
  for (const std::string& arm : evaluation.arms) rows.front().push_back(arm + " ");
  for (const ShiftRow& row : evaluation.rows) {
    rows.push_back({data_in_words(row), human_count(row.batch)});
    for (std::size_t arm = 0; arm < evaluation.arms.size(); ++arm) rows.back().push_back(marked_cell(row, arm));
  }
  return rows;
}

std::vector<std::string> shift_sentences(const std::string& label, const ShiftEvaluation& evaluation) {
  std::vector<std::string> said;
  for (std::size_t arm = 1; arm < evaluation.arms.size(); ++arm) said.push_back(harm_sentence(label, evaluation, arm));
  said.push_back(setting_sentence(label, evaluation));
  return said;
}

std::string shift_table(const std::string& label, const ShiftEvaluation& evaluation) {
  std::string text = paragraph(shift_heading(label)) + grid(shift_rows(evaluation), {.widest = std::string::npos});
  for (const std::string& sentence : shift_sentences(label, evaluation)) text += paragraph(sentence);
  return text;
}

}  // namespace dadsim::report
