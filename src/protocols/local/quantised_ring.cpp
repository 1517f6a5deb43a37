#include <numeric>
#include <span>

#include "compress/registry.hpp"
#include "protocols/local/local_rounds.hpp"

namespace dadsim::protocols::quantised_ring {
namespace {

/// Replaces a chunk by what the next peer decodes of it.
void quantise(std::span<float> chunk, const compress::Compressor& compressor) {
  const Eigen::Map<models::Matrix> numbers(chunk.data(), 1, static_cast<Eigen::Index>(chunk.size()));
  compress::Encoder encoder;
  compressor.encode(numbers, {}, encoder);
  const compress::Message message = encoder.take();
  compress::Decoder decoder(message);
  compressor.decode(decoder, {}, numbers);
}

}  // namespace

spec::CompressSpec encoding(std::size_t peers) {
  return {.method = "int8-table", .parameters = {{"chunks", std::to_string(2 * peers)}}, .memory = false};
}

std::vector<float> sum(const std::vector<std::vector<float>>& rows, const std::vector<std::size_t>& matrices) {
  const std::size_t peers = rows.size(), chunks = 2 * peers;
  const compress::CompressorInfo& info = compress::encoding("int8-table");
  const auto compressor = info.make(default_parameters(info.parameters));
  std::vector<float> result(rows.front().size());
  std::size_t at = 0;
  const auto add = [&](std::size_t peer, std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) result[k] += rows[peer][k];
  };
  for (const std::size_t size : matrices) {
    for (std::size_t chunk = 0; chunk < chunks && peers > 1; ++chunk) {
      const std::size_t first = at + chunk * size / chunks, end = at + (chunk + 1) * size / chunks;
      for (std::size_t hop = 0; hop < peers; ++hop) {
        add((chunk / 2 + hop) % peers, first, end);
        quantise(std::span(result).subspan(first, end - first), *compressor);
      }
    }
    at += size;
  }
  for (std::size_t peer = 0; peer < peers; ++peer) add(peer, peers > 1 ? at : 0, result.size());
  return result;
}

Value mean(Learning& learning, const std::vector<Value>& rows, const std::vector<double>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Value> scaled;
  for (std::size_t i = 0; i < rows.size(); ++i) scaled.push_back(learning.weighted_sum({rows[i]}, {weights[i] / all}));
  return learning.history().make("quantised ring", scaled, [matrices = learning.pieces()](History::Inputs in) {
    std::vector<std::vector<float>> numbers;
    for (const world::DatumPtr& row : in) numbers.push_back(row->numbers);
    return Datum{sum(numbers, matrices), {}};
  });
}

}  // namespace dadsim::protocols::quantised_ring
