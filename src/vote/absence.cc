// What a decision would be without each of its models: by counting again, where that is not plain to see.
#include "vote/absence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/scratch.h"
#include "vote/selection.h"

namespace margin {
namespace {

struct Voter {
  ModelId model = 0;
  std::size_t ballot = 0;  // its first
  double weight = 0.0;     // of all its ballots, whatever their signs
  double lost = 0.0;       // without it, of the selected answer's score
  bool supports = false;   // the selected answer
};
using Voters = std::pmr::vector<Voter>;

// The models that vote, in ballot order; of more than `models_max` those whose ballots weigh most. Where only those who support the
// selected answer matter (`supporters`), the others may be left out.
Voters voters_to_try(std::span<const Ballot> ballots, std::span<const double> weights, std::uint32_t selected, std::size_t models_max,
                     bool supporters, std::pmr::memory_resource* room) {
  const bool others = !supporters || ballots.size() > models_max;
  Voters voters(room);
  voters.reserve(ballots.size());
  ModelId ids_end = 0;  // mostly each model votes once, in the order of joining
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    const bool supports = ballots[i].answer == selected;
    if (ballots[i].answer == kNoAnswer || !(supports || others)) continue;
    const ModelId model = ballots[i].model;
    const auto from = model < ids_end ? voters.begin() : voters.end();
    const auto known = std::find_if(from, voters.end(), [&](const Voter& voter) { return voter.model == model; });
    Voter& voter = known != voters.end() ? *known : voters.emplace_back(Voter{.model = model, .ballot = i});
    ids_end = std::max(ids_end, model + 1);
    voter.weight += std::fabs(weights[i]);
    if (!supports) continue;
    voter.supports = true;
    voter.lost += weights[i];
  }
  if (voters.size() > models_max) {
    std::stable_sort(voters.begin(), voters.end(), [](const Voter& a, const Voter& b) { return a.weight > b.weight; });
    voters.resize(models_max);
    std::sort(voters.begin(), voters.end(), [](const Voter& a, const Voter& b) { return a.ballot < b.ballot; });
  }
  return voters;
}

// Tells whose absence cannot change the selection, without counting again. Only for votes in which a ballot adds to its answer, never
// takes away, and changes nothing about the others; elsewhere nobody is told.
class Lead {
 public:
  Lead(const std::optional<AddendRange>& range, std::size_t ballots, const Tally& tally) : winner_(tally.winner) {
    plain_ = range && range->low >= 0.0 && tally.winner != kNoAnswer;
    if (!plain_) return;
    double size = 0.0;
    for (std::uint32_t answer = 0; answer < tally.scores.size(); ++answer) {
      const double score = tally.scores[answer];
      size += score;
      if (answer == winner_ || tally.votes[answer] == 0 || (rival_ != kNoAnswer && score <= rival_score_)) continue;
      rival_ = answer;
      rival_score_ = score;
    }
    lead_ = tally.scores[winner_] - rival_score_ - internal::rounding_of(ballots) * size;
  }

  // Only the absence of those who support the selected answer could.
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] bool survives(const Voter& absent) const { return plain_ && (!absent.supports || outweighs(absent.lost)); }
  [[nodiscard]] bool outweighs(double lost) const { return lead_ > lost; }

  // Who wins where the selected answer is left with another score and all else stays; of equals the answer that comes first.
  [[nodiscard]] std::uint32_t winner_at(double score) const {
    if (rival_ == kNoAnswer) return winner_;
    return (winner_ < rival_ ? score >= rival_score_ : score > rival_score_) ? winner_ : rival_;
  }
  // The best of the others.
  [[nodiscard]] std::uint32_t rival() const { return rival_; }

 private:
  const std::uint32_t winner_;
  bool plain_ = false;
  std::uint32_t rival_ = kNoAnswer;
  double rival_score_ = 0.0;
  double lead_ = 0.0;  // less what rounding may do
};

constexpr std::size_t kFew = 32;

// Each model has one ballot.
bool by_growing_id(std::span<const Ballot> ballots) {
  return std::adjacent_find(ballots.begin(), ballots.end(), [](const Ballot& a, const Ballot& b) { return a.model >= b.model; }) ==
         ballots.end();
}

// Where the lead is plain and each model has one ballot, nobody's absence changes more than the score of the selected answer: only that is
// added up again. At most kFew ballots.
void find_single_absences(const Lead& lead, std::span<const Ballot> ballots, std::span<const double> weights, std::uint32_t selected,
                          std::pmr::vector<Absence>& decisive) {
  struct Supporter {
    ModelId model;
    double weight;
  };
  std::array<Supporter, kFew> supporters;
  std::size_t count = 0;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    supporters[count] = {ballots[i].model, weights[i]};
    if (ballots[i].answer == selected) ++count;
  }
  const std::span all(supporters.data(), count);
  decisive.reserve(count);
  for (const Supporter& absent : all) {
    if (lead.outweighs(absent.weight)) continue;
    double score = 0.0;
    for (const Supporter& other : all) {
      if (&other != &absent) score += other.weight;
    }
    const std::uint32_t winner = count == 1 ? lead.rival() : lead.winner_at(score);
    if (winner != selected) decisive.push_back({absent.model, winner});
  }
}

// Counts without the ballots of one model.
class Recount {
 public:
  // `steady`: each of the other ballots then adds the weight that it has now, and the largest score wins.
  Recount(const Vote& vote, bool steady, std::span<const Ballot> ballots, std::span<const double> weights, std::uint32_t answers,
          Tally& tally, std::pmr::memory_resource* room)
      : vote_(vote), steady_(steady), ballots_(ballots), weights_(weights), answers_(answers), tally_(tally), rest_(room) {}

  [[nodiscard]] std::uint32_t winner_without(ModelId absent) { return steady_ ? add_up_without(absent) : count_without(absent); }

 private:
  [[nodiscard]] std::uint32_t add_up_without(ModelId absent) {
    tally_.votes.assign(answers_, 0);
    tally_.scores.assign(answers_, 0.0);
    for (std::size_t i = 0; i < ballots_.size(); ++i) {
      const Ballot& ballot = ballots_[i];
      if (ballot.model == absent || ballot.answer == kNoAnswer) continue;
      ++tally_.votes[ballot.answer];
      tally_.scores[ballot.answer] += weights_[i];
    }
    return internal::largest_score(tally_);
  }

  [[nodiscard]] std::uint32_t count_without(ModelId absent) {
    rest_.clear();
    rest_.reserve(ballots_.size());
    std::copy_if(ballots_.begin(), ballots_.end(), std::back_inserter(rest_), [&](const Ballot& other) { return other.model != absent; });
    return vote_.count(rest_, answers_, tally_);
  }

  const Vote& vote_;
  const bool steady_;
  const std::span<const Ballot> ballots_;
  const std::span<const double> weights_;
  const std::uint32_t answers_;
  Tally& tally_;
  std::pmr::vector<Ballot> rest_;
};

}  // namespace

std::pmr::vector<Absence> internal::decisive_absences(const Vote& vote, std::span<const Ballot> ballots, std::span<const double> weights,
                                                      const Tally& tally, Tally& again, std::size_t models_max,
                                                      std::pmr::memory_resource* room) {
  const auto range = vote.addend_range();
  const Lead lead(range, ballots.size(), tally);
  std::pmr::vector<Absence> decisive(room);
  if (lead.plain() && ballots.size() <= std::min(models_max, kFew) && by_growing_id(ballots)) {
    find_single_absences(lead, ballots, weights, tally.winner, decisive);
    return decisive;
  }
  Recount recount(vote, range.has_value(), ballots, weights, static_cast<std::uint32_t>(tally.scores.size()), again, room);
  for (const Voter& voter : voters_to_try(ballots, weights, tally.winner, models_max, lead.plain(), room)) {
    if (lead.survives(voter)) continue;
    const std::uint32_t winner = recount.winner_without(voter.model);
    if (winner != tally.winner) decisive.push_back({voter.model, winner});
  }
  return decisive;
}

std::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots, const Tally& tally, std::size_t models_max) {
  internal::Scratch<4096> scratch;
  std::pmr::vector<double> weights(&scratch);
  weights.reserve(ballots.size());
  for (std::size_t i = 0; i < ballots.size(); ++i) weights.push_back(vote.weight(ballots, i));
  Tally again;
  const auto decisive = internal::decisive_absences(vote, ballots, weights, tally, again, models_max, &scratch);
  return {decisive.begin(), decisive.end()};
}

}  // namespace margin
