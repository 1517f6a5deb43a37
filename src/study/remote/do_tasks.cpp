#include "study/remote/do_tasks.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "study/remote/learn_elsewhere.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::study {

std::string do_tasks(const std::string& path, std::string_view piece,
                     const std::map<std::string, std::string>& states) {
  const TaskPiece asked = task_piece_from_bytes(piece);
  switch (asked.context.kind) {
    case TaskContext::Kind::operations:
      return results_to_bytes(do_operations(path, asked, states));
    case TaskContext::Kind::learning:
      return results_to_bytes(learn_for_another(path, asked));
  }
  throw std::logic_error("a task of no kind");
}

}  // namespace dadsim::study
