// Vote: selects one answer of a task from its responses' calibrated confidences. Some votes learn from the task's outcomes.
// Made by identifier (make_vote): sum, argmax, majority, log_odds, discounted, stacked. docs/voting.md has the formulas.
//
//   const std::vector<margin::Ballot> ballots = {{.model = 0, .answer = 0, .confidence = 0.9},
//                                                {.model = 1, .answer = 1, .confidence = 0.6}};
//   const std::vector<double> outcomes = {0.0, 1.0};
//   auto vote = margin::make_vote("stacked");
//   margin::Tally tally;
//   vote.value()->tally(ballots, 2, tally);     // decide first
//   vote.value()->learn(ballots, 2, outcomes);  // then learn, as soon as the outcomes are known, or that they never will be
//
// Like a calibrator, a vote is a pure state machine with the same bits everywhere, not thread-safe (many threads may call const
// functions), and neither tally() nor learn() allocates once its models and its Tally have been seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/parameter.h"
#include "margin/result.h"
#include "margin/term.h"

namespace margin {

// One usable response of a task, in row or request order. A model may answer twice (in two channels): two ballots.
struct Ballot {
  ModelId model = 0;                 // below kModelsMax
  std::uint32_t answer = kNoAnswer;  // AnswerGroups::group; kNoAnswer does not vote
  double confidence = 0.0;           // calibrated, in [0, 1]
};

// The count. Reuse one Tally for many tasks: its memory is kept.
struct Tally {
  std::vector<std::uint32_t> votes;  // by answer: how many ballots named it; an answer without any cannot win
  std::vector<double> scores;        // by answer
  std::vector<double> shares;  // by answer: its part of the total score (of a lone ballot, its confidence), or its probability where the
                               // vote has one; in [0, 1]
  std::uint32_t winner = kNoAnswer;  // largest score, the answer that comes first wins a tie (argmax: the response that comes first);
                                     // kNoAnswer when nothing votes
  std::size_t ballot = 0;            // the winner's leading response: most confident, first wins a tie; meaningless without a winner
  double share = 0.0;                // the winner's, 0 without a winner; where every score is 0, the answers share alike
  double runner_up_gap = 0.0;        // winner's share minus the next answer's share (all of it when alone)
  std::vector<double> weights{};     // by ballot: what it added to its answer's score; 0 where it does not vote
};

// What one more ballot can add to an answer's score, whatever it says.
struct AddendRange {
  double low = 0.0;
  double high = 0.0;
};

struct VoteInfo {
  std::string identifier;
  int version = 1;
  bool learns = false;  // otherwise learn() changes nothing
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

  // Counts the ballots. `answers`: how many distinct answers there are; every ballot's answer is below it or kNoAnswer.
  // A ballot out of range (answer, model, confidence) stops the program.
  void tally(std::span<const Ballot> ballots, std::uint32_t answers, Tally& tally) const;
  // The first half of it: votes, scores, weights and the winner, which it returns.
  std::uint32_t count(std::span<const Ballot> ballots, std::uint32_t answers, Tally& tally) const;
  // The same task once its outcomes are known: outcomes[i] in [0, 1] belongs to ballots[i], NaN where it will never be known.
  // An answer's outcome is the largest known one of its responses. `weight` in (0, 1] is that of the feedback. Votes that do not learn
  // ignore it; anything out of range stops the program.
  void learn(std::span<const Ballot> ballots, std::uint32_t answers, std::span<const double> outcomes, double weight = 1.0);
  // How much ballots[ballot] counts in a tally of these ballots, for people: its addend to its answer's score; 0 when it does not vote.
  // Of the ballots only this one is checked: the others were when they were counted.
  [[nodiscard]] double weight(std::span<const Ballot> ballots, std::size_t ballot) const;

  // nullopt: there are no such bounds, or another ballot changes what the ballots before it add. With bounds the largest score wins.
  [[nodiscard]] virtual std::optional<AddendRange> addend_range() const { return std::nullopt; }

  // What that weight is made of, in the order of the formula; empty where there is nothing to add, or no vote.
  [[nodiscard]] std::vector<Term> explain(std::span<const Ballot> ballots, std::size_t ballot) const;
  // False: never anything, so that nobody need ask.
  [[nodiscard]] virtual bool has_terms() const { return true; }

  // Bytes that restore_vote turns into an equal vote, bit for bit. digest() is the fingerprint of those bytes.
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }

 protected:
  Vote(const VoteInfo& info, Parameters parameters) : info_(&info), parameters_(std::move(parameters)) {}

  // What a vote implements. Arguments have been checked.
  // The addend of a ballot that votes. A score is the sum of them in ballot order.
  [[nodiscard]] virtual double addend(std::span<const Ballot> ballots, std::size_t ballot) const = 0;
  // The terms of an addend.
  [[nodiscard]] virtual std::vector<Term> terms(std::span<const Ballot> /*ballots*/, std::size_t /*ballot*/) const { return {}; }
  // The winner among the answers with votes, of which there is one: the largest score, the first of equals.
  [[nodiscard]] virtual std::uint32_t select(std::span<const Ballot> ballots, const Tally& tally) const;
  // Fills shares (zeros so far) from votes and scores; by default in proportion to the scores, which must then be >= 0, and a lone ballot's
  // confidence.
  virtual void share_out(std::span<const Ballot> ballots, Tally& tally) const;
  virtual void update(std::span<const Ballot> /*ballots*/, std::uint32_t /*answers*/, std::span<const double> /*outcomes*/,
                      double /*weight*/) {}
  // State beyond the parameters; load() must refuse what save() cannot have written.
  virtual void save(internal::Encoder& /*out*/) const {}
  virtual void load(internal::Decoder& /*in*/) {}

 private:
  friend Result<std::unique_ptr<Vote>> restore_vote(std::string_view bytes);

  const VoteInfo* info_;
  Parameters parameters_;
};

// What would be selected if a model had not answered; kNoAnswer when nobody else voted.
struct Absence {
  ModelId model = 0;
  std::uint32_t winner = kNoAnswer;
};
// The models whose absence would change the selected answer, each taken out alone, in ballot order: why the decision is as it is.
// `tally`: the count of these ballots. For at most `models_max` models: those whose ballots weigh most, the first of equals.
[[nodiscard]] std::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots, const Tally& tally,
                                                     std::size_t models_max = kModelsMax);

// Every vote in its newest version, in the order tables show them.
[[nodiscard]] std::span<const VoteInfo* const> vote_catalog();
// Versions that newer ones have replaced; what was stored with them goes on with them.
[[nodiscard]] std::span<const VoteInfo* const> replaced_votes();
// A `name` is an identifier, which means its newest version, or identifier@version: "stacked@1".
[[nodiscard]] Result<const VoteInfo*> find_vote(std::string_view name);

// kNotFound: unknown identifier (the message suggests the nearest) or a version this binary does not know;
// kInvalidArgument: a bad parameter.
[[nodiscard]] Result<std::unique_ptr<Vote>> make_vote(std::string_view name, const Parameters& parameters = {});
[[nodiscard]] Result<std::unique_ptr<Vote>> make_vote(std::string_view identifier, int version, const Parameters& parameters);

// kCorrupt: not a snapshot, truncated, or a state no vote can reach; kNotFound: a vote or version this binary does not know.
[[nodiscard]] Result<std::unique_ptr<Vote>> restore_vote(std::string_view bytes);

}  // namespace margin
