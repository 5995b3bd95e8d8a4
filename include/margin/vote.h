// Vote: selects one answer of a task from its responses' calibrated confidences. Some votes learn from the task's outcomes.
// Made by identifier (make_vote): sum, argmax, majority, log_odds, discounted, stacked. docs/voting.md has the formulas.
//
// Like a calibrator, a vote is a pure state machine with the same bits everywhere, not thread-safe, and neither tally() nor learn()
// allocates once its models and its Tally have been seen.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/parameter.h"
#include "margin/result.h"

namespace margin {

// One usable response of a task, in row or request order.
struct Ballot {
  ModelId model = 0;
  std::uint32_t answer = kNoAnswer;  // AnswerGroups::group; kNoAnswer does not vote
  double confidence = 0.0;           // calibrated, in [0, 1]
};

// The count. Reuse one Tally for many tasks: its memory is kept.
struct Tally {
  std::vector<double> scores;        // by answer
  std::uint32_t winner = kNoAnswer;  // largest score, the answer that comes first wins a tie; kNoAnswer when nothing votes
  std::size_t ballot = 0;            // the winner's leading response: most confident, first wins a tie; meaningless without a winner
  double share = 0.0;                // the winner's part of the total score, or its probability where the vote has one; in [0, 1]
  double runner_up_gap = 0.0;        // winner's share minus the next answer's share (all of it when alone)
};

struct VoteInfo {
  std::string identifier;
  int version = 1;
  bool learns = false;
  std::string summary;
  std::vector<ParameterSpec> parameters;
};

class Vote {
 public:
  virtual ~Vote() = default;
  Vote(const Vote&) = delete;
  Vote& operator=(const Vote&) = delete;

  [[nodiscard]] const VoteInfo& info() const { return *info_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  // `answers`: how many distinct answers there are; every ballot's answer is below it or kNoAnswer.
  virtual void tally(std::span<const Ballot> ballots, std::uint32_t answers, Tally& tally) const = 0;
  // The same task once its outcomes are known: outcomes[i] in [0, 1] belongs to ballots[i], NaN where it will never be known.
  // An answer's outcome is the largest known one of its responses. Votes that do not learn ignore it.
  virtual void learn(std::span<const Ballot> /*ballots*/, std::uint32_t /*answers*/, std::span<const double> /*outcomes*/) {}
  // How much this ballot counts in a tally of these ballots, for people: its addend to its answer's score.
  [[nodiscard]] virtual double weight(std::span<const Ballot> ballots, std::size_t ballot) const = 0;

  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }

 protected:
  Vote(const VoteInfo& info, Parameters parameters) : info_(&info), parameters_(std::move(parameters)) {}
  virtual void save(internal::Encoder& /*out*/) const {}
  virtual void load(internal::Decoder& /*in*/) {}

 private:
  friend Result<std::unique_ptr<Vote>> restore_vote(std::string_view bytes);

  const VoteInfo* info_;
  Parameters parameters_;
};

[[nodiscard]] std::span<const VoteInfo* const> vote_catalog();
// kNotFound: unknown identifier or version; kInvalidArgument: a bad parameter.
[[nodiscard]] Result<std::unique_ptr<Vote>> make_vote(std::string_view identifier, const Parameters& parameters = {});
[[nodiscard]] Result<std::unique_ptr<Vote>> restore_vote(std::string_view bytes);

}  // namespace margin
