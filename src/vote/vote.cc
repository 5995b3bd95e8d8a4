// What all votes share: checks, the count, the tie rule, snapshots.
#include "margin/vote.h"

#include <algorithm>

#include "base/check.h"
#include "base/encoding.h"
#include "base/parameter_encoding.h"
#include "vote/selection.h"

namespace margin {
namespace {

constexpr std::uint32_t kSnapshotFormat = 0x4d565431;  // "MVT1"

bool is_probability(double x) { return x >= 0.0 && x <= 1.0; }

inline void check_ballot(const Ballot& ballot, std::uint32_t answers) {
  MARGIN_CHECK(ballot.model < kModelsMax, "model ids are dense and below kModelsMax");
  MARGIN_CHECK(ballot.answer < answers || ballot.answer == kNoAnswer, "a ballot names one of the task's answers, or none");
  MARGIN_CHECK(is_probability(ballot.confidence), "confidence is in [0, 1]");
}

void check_ballots(std::span<const Ballot> ballots, std::uint32_t answers) {
  for (const Ballot& ballot : ballots) check_ballot(ballot, answers);
}

bool votes(std::span<const Ballot> ballots, std::size_t ballot) {
  MARGIN_CHECK(ballot < ballots.size(), "the ballot is one of the ballots");
  check_ballot(ballots[ballot], kNoAnswer);
  return ballots[ballot].answer != kNoAnswer;
}

std::optional<std::size_t> lone_ballot(std::span<const Ballot> ballots) {
  std::optional<std::size_t> lone;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (ballots[i].answer == kNoAnswer) continue;
    if (lone) return std::nullopt;
    lone = i;
  }
  return lone;
}

}  // namespace

std::uint32_t Vote::count(std::span<const Ballot> ballots, std::uint32_t answers, Tally& tally) const {
  check_ballots(ballots, answers);
  tally.votes.assign(answers, 0);
  tally.scores.assign(answers, 0.0);
  tally.weights.assign(ballots.size(), 0.0);
  tally.winner = kNoAnswer;
  bool somebody = false;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    const std::uint32_t answer = ballots[i].answer;
    if (answer == kNoAnswer) continue;
    somebody = true;
    ++tally.votes[answer];
    tally.scores[answer] += tally.weights[i] = addend(ballots, i);
  }
  if (somebody) tally.winner = select(ballots, tally);
  return tally.winner;
}

void Vote::tally(std::span<const Ballot> ballots, std::uint32_t answers, Tally& tally) const {
  tally.shares.assign(answers, 0.0);
  tally.ballot = 0;
  tally.share = 0.0;
  tally.runner_up_gap = 0.0;
  if (count(ballots, answers, tally) == kNoAnswer) return;
  share_out(ballots, tally);
  tally.share = tally.shares[tally.winner];
  double next = 0.0;
  for (std::uint32_t y = 0; y < answers; ++y) {
    if (y != tally.winner) next = std::max(next, tally.shares[y]);
  }
  tally.runner_up_gap = std::max(0.0, tally.share - next);

  double most = -1.0;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (ballots[i].answer != tally.winner || ballots[i].confidence <= most) continue;
    most = ballots[i].confidence;
    tally.ballot = i;
  }
}

std::uint32_t Vote::select(std::span<const Ballot>, const Tally& tally) const { return internal::largest_score(tally); }

void Vote::share_out(std::span<const Ballot> ballots, Tally& tally) const {
  // A part of itself would say nothing.
  if (const auto lone = lone_ballot(ballots)) {
    tally.shares[ballots[*lone].answer] = ballots[*lone].confidence;
    return;
  }
  double total = 0.0;
  double supported = 0.0;
  for (std::size_t y = 0; y < tally.scores.size(); ++y) {
    total += tally.scores[y];
    supported += tally.votes[y] != 0 ? 1.0 : 0.0;
  }
  for (std::size_t y = 0; y < tally.scores.size(); ++y) {
    if (tally.votes[y] != 0) tally.shares[y] = total > 0.0 ? tally.scores[y] / total : 1.0 / supported;
  }
}

void Vote::learn(std::span<const Ballot> ballots, std::uint32_t answers, std::span<const double> outcomes, double weight) {
  check_ballots(ballots, answers);
  MARGIN_CHECK(outcomes.size() == ballots.size(), "each ballot has an outcome or NaN");
  for (const double outcome : outcomes) MARGIN_CHECK(outcome != outcome || is_probability(outcome), "an outcome is in [0, 1] or NaN");
  MARGIN_CHECK(weight > 0.0 && weight <= 1.0, "a weight is in (0, 1]");
  update(ballots, answers, outcomes, weight);
}

double Vote::weight(std::span<const Ballot> ballots, std::size_t ballot) const {
  return votes(ballots, ballot) ? addend(ballots, ballot) : 0.0;
}

std::vector<Term> Vote::explain(std::span<const Ballot> ballots, std::size_t ballot) const {
  return votes(ballots, ballot) ? terms(ballots, ballot) : std::vector<Term>();
}

std::string Vote::snapshot() const {
  internal::Encoder out;
  out.integer(kSnapshotFormat);
  out.text(info_->identifier);
  out.integer(static_cast<std::int32_t>(info_->version));
  internal::encode(parameters_, out);
  save(out);
  return out.take();
}

Result<std::unique_ptr<Vote>> restore_vote(std::string_view bytes) {
  internal::Decoder in(bytes);
  const auto corrupt = Error{ErrorCode::kCorrupt, "vote: the bytes are truncated or not a snapshot of a vote"};
  if (in.integer<std::uint32_t>() != kSnapshotFormat) return corrupt;
  const std::string identifier = in.text();
  const auto version = in.integer<std::int32_t>();
  const Parameters parameters = internal::decode_parameters(in);
  if (!in.ok()) return corrupt;
  auto made = make_vote(identifier, version, parameters);
  if (!made) return made.error().code == ErrorCode::kNotFound ? made.error() : corrupt;
  (*made)->load(in);
  if (Status status = in.finish("vote " + identifier); !status) return status.error();
  // Equal states have equal bytes; bytes that no state writes (a parameter left out or given twice) are not a snapshot.
  if ((*made)->snapshot() != bytes) return corrupt;
  return made;
}

}  // namespace margin
