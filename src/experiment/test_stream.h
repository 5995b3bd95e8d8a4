// A small seeded stream for the tests of this folder: models of different skill, some responses missing, some not graded.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiment/stream.h"
#include "margin/random.h"

namespace margin::experiment {

struct TestStream {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 100;
  std::vector<std::string> models = {"a", "b", "c"};
  double skill = 0.8;          // of the first model; each further one has less
  double missing = 0.1;        // share of responses
  double ungraded = 0.05;      // share of responses
  double fewest_factor = 1.0;  // the last model answers only this share of its tasks
};

inline Stream make_test_stream(const TestStream& wanted) {
  Random random(wanted.seed);
  Stream stream;
  stream.channel = "verbalized";
  stream.models = wanted.models;
  stream.excluded.resize(wanted.models.size());
  for (std::uint32_t number = 0; number < wanted.tasks; ++number) {
    Stream::Task task{.log_task = number, .first_row = static_cast<std::uint32_t>(stream.rows()), .answers = 3};
    for (ModelId model = 0; model < wanted.models.size(); ++model) {
      const bool silent = random.chance(wanted.missing);
      const bool last_silent = model + 1 == wanted.models.size() && !random.chance(wanted.fewest_factor);
      if (silent || last_silent) continue;
      const bool right = random.chance(wanted.skill - 0.12 * model);
      stream.model.push_back(model);
      stream.confidence.push_back(random.uniform());
      stream.outcome.push_back(random.chance(wanted.ungraded) ? std::numeric_limits<double>::quiet_NaN() : right ? 1.0 : 0.0);
      stream.weight.push_back(1.0);
      stream.answer.push_back(right ? 0 : 1 + static_cast<std::uint32_t>(random.below(2)));
      stream.log_row.push_back(static_cast<std::uint32_t>(stream.log_row.size()));
      ++task.rows;
    }
    if (task.rows > 0) stream.tasks.push_back(task);
  }
  stream.task_count = wanted.tasks;
  return stream;
}

}  // namespace margin::experiment
