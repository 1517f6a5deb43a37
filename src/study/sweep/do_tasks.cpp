#include "study/sweep/do_tasks.hpp"

#include <stdexcept>

#include "study/remote/learn_elsewhere.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/sweep/remote_trials.hpp"

namespace dadsim::study {

std::string do_tasks(const std::string& path, std::string_view piece, TaskStates states, std::size_t threads) {
  const TaskPiece asked = task_piece_from_bytes(piece, states);
  switch (asked.context.kind) {
    case TaskContext::Kind::operations:
      return results_to_bytes(do_operations(path, asked, states));
    case TaskContext::Kind::learning:
      return results_to_bytes(learn_for_another(path, asked));
    case TaskContext::Kind::trials:
      return results_to_bytes(do_trials(path, asked, states, threads));
  }
  throw std::logic_error("a task of no kind");
}

}  // namespace dadsim::study
