// What a decision would be without each of its models: by counting again, where that is not plain to see.
#include <algorithm>
#include <cmath>
#include <limits>

#include "margin/vote.h"

namespace margin {
namespace {

struct Voter {
  ModelId model = 0;
  std::size_t ballot = 0;  // its first
  double weight = 0.0;
};

// The models that vote, in ballot order; of more than `models_max` those whose ballots weigh most.
std::vector<Voter> voters_to_try(const Vote& vote, std::span<const Ballot> ballots, std::size_t models_max) {
  std::vector<Voter> voters;
  voters.reserve(ballots.size());
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (ballots[i].answer == kNoAnswer) continue;
    const auto known = std::find_if(voters.begin(), voters.end(), [&](const Voter& voter) { return voter.model == ballots[i].model; });
    Voter& voter = known != voters.end() ? *known : voters.emplace_back(Voter{ballots[i].model, i});
    if (ballots.size() > models_max) voter.weight += std::fabs(vote.weight(ballots, i));
  }
  if (voters.size() > models_max) {
    std::stable_sort(voters.begin(), voters.end(), [](const Voter& a, const Voter& b) { return a.weight > b.weight; });
    voters.resize(models_max);
    std::sort(voters.begin(), voters.end(), [](const Voter& a, const Voter& b) { return a.ballot < b.ballot; });
  }
  return voters;
}

// What rounding may do to a sum of so many ballots, relative to its size; several times more than it does.
double rounding_of(std::size_t ballots) { return 4.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(ballots + 4); }

// Tells whose absence cannot change the selection, without counting again. Only for votes in which a ballot adds to its answer, never
// takes away, and changes nothing about the others; elsewhere nobody is told.
class Lead {
 public:
  Lead(const Vote& vote, std::span<const Ballot> ballots, const Tally& tally) : vote_(vote), ballots_(ballots), selected_(tally.winner) {
    const auto range = vote.addend_range();
    plain_ = range && range->low >= 0.0 && selected_ != kNoAnswer;
    if (!plain_) return;
    double rival = 0.0;
    double size = 0.0;
    for (std::uint32_t answer = 0; answer < tally.scores.size(); ++answer) {
      size += tally.scores[answer];
      if (answer != selected_) rival = std::max(rival, tally.scores[answer]);
    }
    lead_ = tally.scores[selected_] - rival - rounding_of(ballots.size()) * size;
  }

  [[nodiscard]] bool survives(ModelId absent) const {
    if (!plain_) return false;
    double lost = 0.0;
    bool supports = false;
    for (std::size_t i = 0; i < ballots_.size(); ++i) {
      if (ballots_[i].model != absent || ballots_[i].answer != selected_) continue;
      supports = true;
      lost += vote_.weight(ballots_, i);
    }
    return !supports || lead_ > lost;
  }

 private:
  const Vote& vote_;
  std::span<const Ballot> ballots_;
  std::uint32_t selected_;
  bool plain_ = false;
  double lead_ = 0.0;  // less what rounding may do
};

}  // namespace

std::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots, const Tally& tally, std::size_t models_max) {
  const auto answers = static_cast<std::uint32_t>(tally.scores.size());
  const Lead lead(vote, ballots, tally);
  std::vector<Absence> decisive;
  std::vector<Ballot> rest;
  Tally without;
  for (const Voter& voter : voters_to_try(vote, ballots, models_max)) {
    if (lead.survives(voter.model)) continue;
    rest.clear();
    std::copy_if(ballots.begin(), ballots.end(), std::back_inserter(rest), [&](const Ballot& other) { return other.model != voter.model; });
    const std::uint32_t winner = vote.count(rest, answers, without);
    if (winner != tally.winner) decisive.push_back({voter.model, winner});
  }
  return decisive;
}

}  // namespace margin
