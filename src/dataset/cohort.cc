#include "dataset/cohort.h"

#include <span>

#include "base/check.h"
#include "margin/digest.h"

namespace margin::dataset {

Random random_stream(std::uint64_t seed, std::string_view phase, std::string_view model) {
  std::string name(phase);
  name += '\0';
  name += model;
  return Random::stream(seed, digest_of(name).low);
}

LetterAnswers::LetterAnswers(std::uint32_t distractors, Random& random) {
  for (std::uint32_t letter = 0; letter <= distractors; ++letter) letters_ += static_cast<char>('A' + letter);
  random.shuffle(std::span(letters_.data(), letters_.size()));
}

std::uint32_t draw_distractor(std::uint32_t distractors, Random& random) {
  double total = 0.0;
  for (std::uint32_t rank = 1; rank <= distractors; ++rank) total += 1.0 / rank;
  double left = random.uniform() * total;
  std::uint32_t rank = 1;
  while (rank < distractors && left >= 1.0 / rank) left -= 1.0 / rank++;
  return rank;
}

void append(Simulation& simulation, const Row& row, double p) {
  const Status status = simulation.log.append(row, static_cast<std::uint32_t>(simulation.p.size() + 1));
  MARGIN_CHECK(status.ok(), "a simulated row is a legal row");
  simulation.p.push_back(p);
}

}  // namespace margin::dataset
