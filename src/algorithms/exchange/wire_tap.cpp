#include "algorithms/exchange/wire_tap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::algorithms {
namespace {

using Kind = SeenMatrix::Kind;

/// Returns ‖a − b‖ ÷ ‖b‖.
double relative_distance(const models::ConstBlock& a, const models::ConstBlock& b) {
  const double norm = std::sqrt(b.cast<double>().squaredNorm());
  return norm > 0 ? std::sqrt((a - b).cast<double>().squaredNorm()) / norm : 0;
}

/// Returns whether a symbolic size changes if `change` is applied to the layer.
template <class Change>
bool depends(const step::Expression& size, const spec::LayerShape& layer, const step::StepSizes& sizes, Change change) {
  spec::LayerShape other = layer;
  change(other);
  other.parameters +=
      other.in * other.out + (other.bias ? other.out : 0) - layer.in * layer.out - (layer.bias ? layer.out : 0);
  return size.evaluate({&layer, &sizes, 0}) != size.evaluate({&other, &sizes, 0});
}

std::span<const float> flat(const models::Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

/// Returns the value (−1, 0, 1) of a code of a vote or sign. One bit: 1 for below zero. Two bits: the second is 1 for
/// above zero.
float of_code(std::uint32_t code, int bits) {
  const auto bit = [&](unsigned place) { return static_cast<float>((code >> place) & 1U); };
  return bits == 1 ? 1.0F - 2.0F * bit(0) : bit(1) - bit(0);
}

}  // namespace

std::optional<WireTap::ObservedMatrix> WireTap::subject() const {
  const std::vector<const spec::LayerShape*>& outer_products = layers_.outer_products;
  if (observer_ == nullptr || recorder_.over() == step::Over::other_layers || outer_products.empty()) return {};
  ObservedMatrix on{&layers_.at(recorder_)};
  on.undecided = recorder_.in_alternative();
  if (on.layer == &layers_.all) {
    on.layer = outer_products.front();
    on.first = on.whole = true;
    return on;
  }
  on.table = on.layer->kind == spec::LayerKind::embedding && on.layer == layers_.matrices.front();
  on.first = on.layer == outer_products.front();
  on.last = on.layer == outer_products.back() && observer_->wants_all();
  if (!on.first && !on.last && !on.table) return {};
  return on;
}

std::vector<std::size_t> WireTap::asked_parts() const {
  std::vector<std::size_t> asked;
  if (!subject() || !observer_->wants_parts()) return asked;
  for (std::size_t site = 0; site < sites(); ++site) {
    if (looks_at(site)) asked.push_back(site);
  }
  return asked;
}

double WireTap::error_of(const models::ConstBlock& arrived, const models::ConstBlock& sent) const {
  return wire_.compresses() && arrived.size() > 0 ? relative_distance(arrived, sent) : 0;
}

double WireTap::error_at(std::int32_t site, const models::ConstBlock& arrived, const models::ConstBlock& sent) const {
  if (!subject() || (site >= 0 && !looks_at(static_cast<std::size_t>(site)))) return 0;
  return error_of(arrived, sent);
}

void WireTap::show(const ObservedMatrix& on, Kind kind, const models::ConstBlock& numbers, const Showing& how) {
  SeenMatrix seen{.kind = on.undecided ? Kind::unread : kind,
                  .first = on.first,
                  .last = on.last,
                  .sender = how.sender,
                  .of_all = how.of_all,
                  .readers = how.readers,
                  .numbers = numbers,
                  .error = how.error,
                  .noise = how.noise};
  if (how.put_in != nullptr) seen.sent = *how.put_in;
  if (wire_.is_unbiased() && how.error > 0) {
    // Stochastic rounding is noise whose deviation the receiver knows.
    const double rms = std::sqrt(numbers.cast<double>().squaredNorm() / static_cast<double>(numbers.size()));
    seen.noise = std::hypot(how.noise, how.error * rms);
  }
  observer_->see(seen);
}

void WireTap::show_flat(const ObservedMatrix& on, std::span<const float> numbers, bool biases_first,
                        const Showing& how) {
  const spec::LayerShape& of = *on.layer;
  const std::int64_t weights = of.in * of.out;
  // Allows for compressors that send the biases in a separate message.
  const std::int64_t biases = of.bias && std::ssize(numbers) > weights ? of.out : 0;
  show(on, Kind::gradient,
       Eigen::Map<const models::Matrix>(numbers.data() + (biases_first ? biases : 0), of.out, of.in), how);
  if (biases == 0) return;
  show(on, Kind::biases, Eigen::Map<const models::Matrix>(numbers.data() + (biases_first ? 0 : weights), 1, biases),
       how);
}

const WireTap::Growth& WireTap::growth_of(const step::Expression& size, const spec::LayerShape& layer) {
  for (const Growth& known : growths_) {
    if (known.layer == &layer && known.size == size) return known;
  }
  const bool with_in = depends(size, layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.in; });
  const bool with_out = depends(size, layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.out; });
  return growths_.emplace_back(Growth{&layer, size, with_in, with_out});
}

void WireTap::show_matrix(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                          const Showing& how) {
  if (numbers.size() == 0 || how.readers == 0 || on.table) return;
  const spec::LayerShape& of = *on.layer;
  const Eigen::Index in = of.in, out = of.out, biases = of.bias ? out : 0;
  if (on.whole) {
    if (!observer_->wants_all()) return;
    const models::Matrix first = numbers.leftCols(in * out + biases);
    return show_flat(on, flat(first), false, how);
  }
  // A matrix with a row per output is a gradient if its size grows with both inputs and outputs.
  const Growth& growth = growth_of(size, of);
  const bool wide_in = growth.with_in, wide_out = growth.with_out;
  const bool is_gradient = wide_in && wide_out && numbers.rows() == out && numbers.cols() == in;
  if (is_gradient) return show(on, Kind::gradient, numbers, how);
  const bool is_row = numbers.rows() == 1, is_column = numbers.cols() == 1;
  if ((is_row || is_column) && (numbers.size() == in * out || numbers.size() == in * out + biases)) {
    const models::Matrix whole = numbers;
    return show_flat(on, flat(whole), is_column && numbers.size() > in * out, how);
  }
  if ((is_row || is_column) && numbers.size() == biases && wide_out && !wide_in &&
      depends(size, of, recorder_.sizes(), [](spec::LayerShape& other) { other.bias = false; })) {
    const models::Matrix whole = numbers;
    return show(on, Kind::biases, Eigen::Map<const models::Matrix>(whole.data(), 1, biases), how);
  }
  if (wide_in != wide_out) {
    const Eigen::Index width = wide_in ? in : out;
    const Kind kind = wide_in ? Kind::input_rows : Kind::output_rows;
    if (numbers.cols() == width || (wide_in && numbers.cols() == in + 1)) return show(on, kind, numbers, how);
    if (numbers.rows() == width) return show(on, kind, models::Matrix(numbers.transpose()), how);
  }
  // Reports other numbers as unread. For the first matrix, reports only numbers whose size grows with the inputs, which
  // may be input rows.
  if (wide_in || !on.first) show(on, Kind::unread, numbers, how);
}

void WireTap::show_unknown_part(std::size_t site, const models::ConstBlock& sum, const step::Expression& size) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on || !on->first) return;
  if (!depends(size, *on->layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.in; })) return;
  show(*on, Kind::unread, sum, {static_cast<std::int32_t>(site), false, readers_of_parts(), 0, 0});
}

void WireTap::show_codes(const ObservedMatrix& on, std::span<const std::uint32_t> codes, int bits, const Showing& how) {
  if (codes.empty() || on.table) return;
  const spec::LayerShape& of = *on.layer;
  const std::int64_t numbers = of.in * of.out + (of.bias ? of.out : 0);
  models::Matrix row(1, static_cast<Eigen::Index>(codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) row(static_cast<Eigen::Index>(i)) = of_code(codes[i], bits);
  // Ignores padding, which fills the last of equal blocks.
  if (bits <= 2 && row.size() >= numbers) return show_flat(on, flat(row), false, how);
  show(on, Kind::unread, row, how);
}

void WireTap::show_rows(const ObservedMatrix& on, const Contribution& own, const Rows& arrived,
                        const std::function<models::ConstBlock(std::size_t part)>& sent, std::size_t first_row,
                        std::size_t rows, const Showing& how) {
  std::size_t matrix = 0, list = 0, coded = 0;
  const auto slice = [&](const auto& numbers, Eigen::Index per_row) {
    return std::span(numbers).subspan(first_row * static_cast<std::size_t>(per_row),
                                      rows * static_cast<std::size_t>(per_row));
  };
  for (std::size_t i = 0; i < own.parts.size(); ++i) {
    const Contribution::Part& part = own.parts[i];
    if (part.whole) {
      const std::vector<std::int32_t>& numbers = arrived.whole[list++];
      if (on.table && numbers.size() >= first_row + rows) {
        models::Matrix symbols(static_cast<Eigen::Index>(rows), 1);
        for (std::size_t r = 0; r < rows; ++r) {
          symbols(static_cast<Eigen::Index>(r)) = static_cast<float>(numbers[first_row + r]);
        }
        show(on, Kind::symbols, symbols, how);
      }
      continue;
    }
    if (part.codes) {
      const std::vector<std::uint32_t>& numbers = arrived.codes[coded++];
      std::size_t most = 0;
      for (std::size_t site = 0; site < sites(); ++site) most = std::max(most, part.codes(site).size());
      const auto per_row = static_cast<Eigen::Index>(most);
      if (rows > 0 && numbers.size() >= (first_row + rows) * static_cast<std::size_t>(per_row)) {
        show_codes(on, slice(numbers, per_row), part.bits, how);
      }
      continue;
    }
    const models::Matrix& numbers = arrived.parts[matrix++];
    const bool is_there = numbers.rows() >= static_cast<Eigen::Index>(first_row + rows);
    if (own.entries || !is_there) continue;
    const auto block = numbers.middleRows(static_cast<Eigen::Index>(first_row), static_cast<Eigen::Index>(rows));
    Showing of_part = how;
    of_part.error = std::max(how.error, error_of(block, sent(i)));
    if (how.as_sent) of_part.put_in = &part.of;
    show_matrix(on, block, part.width, of_part);
  }
  if (!own.entries || on.table || arrived.parts.empty() || arrived.whole.empty() || !observer_->wants_all()) return;
  const spec::LayerShape& of = *on.layer;
  models::Matrix gradient = models::Matrix::Zero(of.out, of.in);
  for (std::size_t r = first_row; r < first_row + rows; ++r) {
    gradient.data()[arrived.whole[0][r]] += arrived.parts[0](static_cast<Eigen::Index>(r), 0);
  }
  show(on, Kind::gradient, gradient, how);
}

double WireTap::show_rows_of_sites(const Contribution& own, const Rows& all) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return 0;
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  const bool has_numbers = std::ranges::any_of(own.parts, &Contribution::Part::has_numbers);
  std::size_t first = 0;
  double largest = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    std::size_t rows = 0;
    for (const Contribution::Part& part : own.parts) {
      if (part.has_numbers()) rows = std::max(rows, static_cast<std::size_t>(part.of(site).rows()));
      // Counts integers as rows only if there are no numbers, since a row of numbers may have several integers.
      if (part.whole && !own.entries && !has_numbers) rows = std::max(rows, part.whole(site).size());
      if (part.codes) rows = std::max<std::size_t>(rows, part.codes(site).empty() ? 0 : 1);
    }
    const std::size_t own_first = std::exchange(first, first + rows);
    if (!looks_at(site)) continue;
    const Showing how{.sender = static_cast<std::int32_t>(site),
                      .of_all = false,
                      .readers = (by_peers ? kReadBySites : kReadByAggregator) | kReadOnLine,
                      .error = 0,
                      .noise = own.noise.of_site,
                      .as_sent = !wire_.compresses()};
    show_rows(
        *on, own, all, [&](std::size_t part) { return own.parts[part].of(site); }, own_first, rows, how);
    std::size_t matrix = 0;
    for (const Contribution::Part& part : own.parts) {
      if (!part.has_numbers()) continue;
      const models::Matrix& numbers = all.parts[matrix++];
      const models::ConstBlock sent = part.of(site);
      const auto there = static_cast<Eigen::Index>(own_first);
      if (sent.size() == 0 || numbers.rows() < there + sent.rows()) continue;
      largest = std::max(largest, error_of(numbers.middleRows(there, sent.rows()), sent));
    }
  }
  return largest;
}

void WireTap::show_result(const Contribution& like, const Rows& arrived, const Rows& sent, double error, bool kept) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  std::size_t rows = 0;
  for (const models::Matrix& part : arrived.parts) rows = std::max(rows, static_cast<std::size_t>(part.rows()));
  if (arrived.parts.empty() && !arrived.whole.empty()) rows = arrived.whole[0].size();
  if (arrived.parts.empty() && !arrived.codes.empty()) rows = arrived.codes[0].empty() ? 0 : 1;
  std::vector<std::size_t> place(like.parts.size());
  std::size_t matrix = 0;
  for (std::size_t i = 0; i < like.parts.size(); ++i) place[i] = like.parts[i].has_numbers() ? matrix++ : 0;
  show_rows(*on, like, arrived, [&](std::size_t part) { return models::ConstBlock(sent.parts[place[part]]); }, 0, rows,
            {.sender = SeenMatrix::kAggregator,
             .of_all = true,
             .readers = kReadBySites | kReadOnLine,
             .error = error,
             .noise = like.noise.of_all,
             .as_sent = kept && !wire_.compresses()});
}

void WireTap::show_blocks(const std::vector<Contribution>& own) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  // Leaves peers out of the readers: a site's blocks go to different peers, and only its own line carries all of them.
  const unsigned readers = (mode_ == spec::ExchangeMode::peer ? 0U : kReadByAggregator) | kReadOnLine;
  for (std::size_t site = 0; site < sites(); ++site) {
    if (!looks_at(site)) continue;
    std::vector<std::uint32_t> codes;
    for (const Contribution& block : own) {
      const std::span<const std::uint32_t> of_block = block.parts.front().codes(site);
      codes.insert(codes.end(), of_block.begin(), of_block.end());
    }
    show_codes(*on, codes, own.front().parts.front().bits, {static_cast<std::int32_t>(site), false, readers, 0, 0});
  }
}

void WireTap::show_made_blocks(const std::vector<Rows>& arrived, const Contribution& like) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  std::vector<std::uint32_t> codes;
  for (const Rows& block : arrived) codes.insert(codes.end(), block.codes.front().begin(), block.codes.front().end());
  show_codes(*on, codes, like.parts.front().bits, {SeenMatrix::kAggregator, true, kReadBySites | kReadOnLine, 0, 0});
}

unsigned WireTap::readers_of_parts() const {
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  unsigned readers = kReadOnLine | (by_peers ? 0U : kReadByAggregator);
  // Adds sites as readers: messages that do not add up are forwarded unchanged to every site.
  if (wire_.compresses() && (by_peers ? !wire_.adds() : wire_.forwards())) readers |= kReadBySites;
  return readers;
}

unsigned WireTap::readers_of_sums() const {
  const bool masked = mode_ == spec::ExchangeMode::aggregator && (!wire_.compresses() || wire_.adds());
  return kReadBySites | kReadOnLine | (masked ? kReadBySecureAggregator : 0U);
}

void WireTap::show_part(std::size_t site, const models::ConstBlock& numbers, const step::Expression& size, double error,
                        double noise) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  show_matrix(*on, numbers, size, {static_cast<std::int32_t>(site), false, readers_of_parts(), error, noise});
}

void WireTap::show_sum(const models::ConstBlock& numbers, const step::Expression& size, double error, double noise) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  show_matrix(*on, numbers, size, {SeenMatrix::kAggregator, true, readers_of_sums(), error, noise});
}

void WireTap::show_neighbours(const NeighbourMessage& message, const Arrivals& arrivals) {
  const std::optional<ObservedMatrix> on = subject();
  if (!on) return;
  std::vector<char> shown(sites(), 0);
  for (std::size_t to = 0; to < arrivals.size(); ++to) {
    for (const Arrived& arrived : arrivals[to]) {
      const auto from = static_cast<std::size_t>(arrived.sender);
      if (!looks_at(from) || (message.same_for_all && std::exchange(shown[from], 1) != 0)) continue;
      Showing how{arrived.sender, false, kReadBySites | kReadOnLine, 0, 0};
      std::size_t matrix = 0;
      for (const NeighbourMessage::Part& part : message.parts) {
        if (part.whole) continue;
        const models::Matrix& numbers = arrived.parts[matrix++];
        how.error = error_of(numbers, part.of(from, to));
        show_matrix(*on, numbers, part.elements, how);
      }
    }
  }
}

}  // namespace dadsim::algorithms
