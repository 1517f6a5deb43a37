#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::formats {

/// What a log of one client of NVIDIA FLARE says: lines of its Communicator
/// (nvflare/private/fed/client/communicator.py, 2.1 to 2.7), "… getTask: train size: 408.5KB (408512 Bytes) time:
/// 0.100075 seconds" and "SubmitUpdate … size: 408.5KB (408512 Bytes). time: 0.1 seconds", with the date that begins
/// them.
struct ClientLog {
  struct LoggedTransfer {
    double bytes = 0;
    double seconds = 0;  ///< from asking to having it, what both ends pack and unpack included
  };
  std::string name;  ///< identity; empty: it does not say
  std::vector<LoggedTransfer> down, up;
  std::vector<double> training;  ///< seconds from having a task to sending what came of it
};

/// What a log of a server of Flower says of rounds, in the words of 0.16 to 1.7 ("fit_round 1: strategy sampled 2
/// clients (out of 2)", with dates), 1.8 to 1.20 ("configure_fit: strategy sampled 2 clients (out of 20)") or later
/// ("configure_train: Sampled 5 nodes (out of 10)", with "ArrayRecord (0.24 MB)" before). The bytes of a model stand in
/// the last alone, and no log has seconds of a transfer.
struct ServerLog {
  struct LoggedRound {
    std::int64_t sampled = 0, known = 0;  ///< clients, and out of how many
    std::int64_t received = 0;            ///< results
    std::optional<double> seconds;        ///< until the results were there; none: lines have no dates
  };
  std::vector<LoggedRound> rounds;
  std::optional<double> model_bytes;
  std::optional<double> total_seconds;  ///< of all rounds, evaluation included, as the end of the log has it
};

/// None where no line is one of these. Throws std::runtime_error, in words, where it has lines of several clients.
std::optional<ClientLog> read_client_log(std::string_view text);
std::optional<ServerLog> read_server_log(std::string_view text);

}  // namespace dadsim::formats
