// A decision: made by decide() with the state as it is, recorded by its event.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "answer/answer_views.h"
#include "base/check.h"
#include "base/scratch.h"
#include "margin/math.h"
#include "pool/limits.h"
#include "pool/state.h"
#include "vote/absence.h"

namespace margin::internal {
namespace {

constexpr std::string_view kPrimary = "primary";  // in the place of a vote's name

// Most pools ask the same models again, and many do so several times before they learn. To the others one decision in so many costs little.
constexpr std::uint64_t kPreparedEvery = 8;

// Enough for what a decision on some forty responses needs until it is made.
using Room = Scratch<std::size_t{8} << 10>;

double calibrated_by(const Member& member, const Cell& cell, ModelId model, double confidence) {
  return member.pin ? clip01(*member.pin * confidence) : cell.calibrator->calibrate(model, confidence);
}

struct Electorate {
  Electorate(std::size_t ballots_max, std::pmr::memory_resource* room) : ballots(ballots_max, room), response_of(ballots_max, room) {}

  std::pmr::vector<Ballot> ballots;
  std::pmr::vector<std::size_t> response_of;  // by ballot
  std::uint32_t answers = 0;
};

// Numbers the answers: first those that vote, so that a vote never sees an answer nobody votes for, then the others. Those that vote are
// the electorate.
Electorate number_answers(std::span<const Seat> seats, DecisionMade& decision, std::pmr::memory_resource* room) {
  RecordedResponse* const responses = decision.responses.data();
  std::pmr::vector<std::size_t> order(seats.size(), room);
  std::pmr::vector<std::optional<std::string_view>> answers(seats.size(), room);
  std::size_t placed = 0;
  const auto place = [&](bool part) {
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (seats[i].part != part) continue;
      const RecordedResponse& response = responses[i];
      if (response.answer != kNoAnswer) answers[placed].emplace(response.answer_text);
      order[placed++] = i;
    }
  };
  place(true);
  const std::size_t parts = placed;
  if (parts < seats.size()) place(false);
  const AnswerViews views = view_answers(decision.kind, answers, room);
  decision.answers.reserve(views.canonical.size());
  for (const std::string_view canonical : views.canonical) decision.answers.push_back(digest_of(canonical));

  Electorate electorate(parts, room);
  std::size_t ballots = 0;
  std::uint32_t answers_end = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t answer = views.group[i];
    RecordedResponse& response = responses[order[i]];
    response.answer = answer;
    if (i >= parts || answer == kNoAnswer) continue;
    electorate.ballots[ballots] = {seats[order[i]].model, answer, response.calibrated};
    electorate.response_of[ballots++] = order[i];
    answers_end = std::max(answers_end, answer + 1);
  }
  electorate.answers = answers_end;
  electorate.ballots.resize(ballots);
  electorate.response_of.resize(ballots);
  return electorate;
}

// Names the responses that should be graded although their answer was not selected; only those that are learned from.
void name_audits(const AuditPlan& plan, std::span<const Seat> seats, DecisionMade& decision) {
  if (plan.rate == 0.0) return;
  std::vector<std::uint32_t> answers;
  for (std::size_t i = 0; i < seats.size(); ++i) answers.push_back(seats[i].part ? decision.responses[i].answer : decision.selected);
  for (const Audit& audit : audits_of(plan, digest_of(decision.task).low, answers, decision.selected)) {
    decision.responses[audit.response].audit = audit.propensity;
  }
}

void calibrate(RecordedResponse& recorded, ModelId model, const Member& member, const Cell& cell) {
  const double stated = *recorded.confidence;
  const double calibrated = calibrated_by(member, cell, model, stated);
  const int band = cell.evidence.band_of(stated);
  recorded.calibrated = calibrated;
  recorded.factor = stated > 0.0 ? std::min(calibrated / stated, std::numeric_limits<double>::max()) : 1.0;
  if (member.pin) recorded.factor = *member.pin;
  recorded.band = static_cast<std::uint32_t>(band);
  recorded.n = cell.evidence.of(model, band).count;
}

// Says how each ballot counted, and which models decided.
void explain_vote(const Vote& vote, const Electorate& electorate, const Tally& tally, const Members& members, DecisionMade& decision,
                  std::pmr::memory_resource* room) {
  const auto& ballots = electorate.ballots;
  const std::span<const double> weights = tally.weights;
  RecordedResponse* const responses = decision.responses.data();
  for (std::size_t i = 0; i < ballots.size(); ++i) responses[electorate.response_of[i]].weight = weights[i];
  if (vote.has_terms()) {
    for (std::size_t i = 0; i < ballots.size(); ++i) responses[electorate.response_of[i]].terms = vote.explain(ballots, i);
  }
  thread_local Tally again;  // the room of the last one
  const auto absences = decisive_absences(vote, ballots, weights, tally, again, kAbsencesMax, room);
  decision.decisive.reserve(absences.size());
  for (const Absence& absence : absences) {
    decision.decisive.push_back({members[absence.model].name, absence.winner});
  }
}

// The response of the model whose answer is selected whatever the others say. nullptr: it gave no answer that votes.
const RecordedResponse* primary_response(const Draft& draft, const Electorate& electorate) {
  if (draft.primary.empty()) return nullptr;
  for (const std::size_t i : electorate.response_of) {
    const RecordedResponse& response = draft.decision.responses[i];
    if (response.model == draft.primary) return &response;
  }
  return nullptr;
}

void decide_seated(Draft& draft, std::span<const Seat> seats, const Members& members, const Cells& cells, const Vote& vote,
                   const DecisionTrust& trust, std::pmr::memory_resource* room) {
  DecisionMade& decision = draft.decision;
  decision.audit_rate = draft.audits.rate;
  RecordedResponse* response = decision.responses.data();
  for (const Seat& seat : seats) {
    if (seat.part) calibrate(*response, seat.model, members[seat.model], cells[seat.cell]);
    ++response;
  }
  const Electorate electorate = number_answers(seats, decision, room);

  thread_local Tally tally;  // likewise
  vote.tally(electorate.ballots, electorate.answers, tally);
  decision.sure.status = trust.status();
  if (tally.winner != kNoAnswer) {
    decision.selected = tally.winner;
    decision.selected_model = decision.responses[electorate.response_of[tally.ballot]].model;
    decision.share = tally.share;
    decision.runner_up_gap = tally.runner_up_gap;
    explain_vote(vote, electorate, tally, members, decision, room);
    // The decision then rests on that response alone.
    if (const RecordedResponse* primary = primary_response(draft, electorate)) {
      decision.vote = kPrimary;
      decision.selected = primary->answer;
      decision.selected_model = draft.primary;
      decision.share = primary->calibrated;
      decision.runner_up_gap = 0.0;
      decision.decisive.clear();
    }
    decision.sure = trust.of(decision.share);
    name_audits(draft.audits, seats, decision);
  }
  decision.scores = tally.scores;
  decision.scores.resize(decision.answers.size(), 0.0);
  decision.abstained = decision.max_error && !decision.sure.promises(*decision.max_error);
}

}  // namespace

double PoolState::calibrate(const Seat& seat, double confidence) const {
  return calibrated_by(members[seat.model], cells[seat.cell], seat.model, confidence);
}

Result<DecisionMade> PoolState::decide(const Question& question) const {
  Draft draft{.decision = {.task = question.task,
                           .segment = question.segment,
                           .kind = question.kind,
                           .max_error = question.max_error,
                           .probe = question.probe,
                           .propensity = question.propensity},
              .audits = question.audits,
              .vote = question.vote,
              .primary = question.primary};
  draft.decision.responses.reserve(question.responses.size());
  for (const Response& response : question.responses) {
    draft.decision.responses.push_back({.model = response.model,
                                        .channel = response.channel,
                                        .confidence = response.confidence,
                                        .answer = response.answer ? 0 : kNoAnswer,
                                        .answer_text = response.answer.value_or(""),
                                        .abstained = response.abstained});
  }
  if (Status status = decide(draft); !status) return status.error();
  return std::move(draft.decision);
}

Status PoolState::decide(Draft& draft) const {
  if (draft.vote.empty()) return decide_by(*vote, *trust, draft);
  const Result<const VoteInfo*> found = find_vote(draft.vote);
  if (!found) return Error{found.error().code, "vote: " + found.error().message};
  const VoteInfo& info = **found;
  // The pool's own has no name in the record, so that naming it changes nothing.
  if (info.identifier == config.vote && info.version == config.vote_version) {
    draft.vote.clear();
    return decide_by(*vote, *trust, draft);
  }
  std::string name = info.identifier + "@" + std::to_string(info.version);
  if (info.learns) return {ErrorCode::kUnsupported, "vote: " + name + " learns, so it can only be the pool's own"};
  const Result<std::unique_ptr<Vote>> other = make_vote(name);
  const Result<DecisionTrust> untaught = DecisionTrust::make(config.trust, config.trust_version, config.trust_parameters);
  MARGIN_CHECK(other.ok() && untaught.ok(), "a known vote without parameters, and the pool's own trust");
  Status status = decide_by(**other, *untaught, draft);
  if (status && draft.decision.vote.empty()) draft.decision.vote = std::move(name);
  return status;
}

bool PoolState::settled(const DecisionMade& decision, std::size_t more) const {
  if (decision.selected == kNoAnswer) return more == 0;
  if (decision.vote == kPrimary) return true;
  std::unique_ptr<Vote> other;
  if (!decision.vote.empty()) {
    Result<std::unique_ptr<Vote>> made = make_vote(decision.vote);
    if (!made) return false;
    other = std::move(*made);
  }
  const auto range = (other ? *other : *vote).addend_range();
  if (!range) return more == 0;
  const double leader = decision.scores[decision.selected];
  double rival = 0.0;  // of an answer that nobody has given yet
  for (std::uint32_t answer = 0; answer < decision.scores.size(); ++answer) {
    if (answer != decision.selected) rival = std::max(rival, decision.scores[answer]);
  }
  double size = 0.0;
  for (const RecordedResponse& response : decision.responses) size += std::fabs(response.weight);
  // Each of them either supports a rival or, where a ballot may count against its answer, speaks for the leader.
  const double change = static_cast<double>(more) * std::max({range->high, -range->low, 0.0});
  return leader - rival > change + rounding_of(decision.responses.size() + more) * (size + change);
}

Status PoolState::decide_by(const Vote& by, const DecisionTrust& sure, Draft& draft) const {
  const DecisionMade& asked = draft.decision;
  Room room;
  Seats seats(&room);
  const bool known = find_seats(asked.responses, asked.segment, members, cells, seats);
  if (Status status = check_draft(draft, config, known); !status) return status;
  if (draft.audits.rate == 0.0) draft.audits.rate = config.audit_rate;
  if (asked.probe) draft.audits.rate = 1.0;
  if (!asked.max_error && config.max_error < 1.0) draft.decision.max_error = config.max_error;
  if (known) {
    decide_seated(draft, seats, members, cells, by, sure, &room);
    return {};
  }
  const std::vector<Speaker> speakers = speakers_of(asked.responses);
  if (Status status = check_room(speakers, asked.segment, members, cells, config); !status) return status;
  Members members_then = members;
  Cells cells_then = cells.copy_for(asked.segment);
  seat_all(speakers, asked.segment, members_then, cells_then, recipe, seats);
  decide_seated(draft, seats, members_then, cells_then, by, sure, &room);
  return {};
}

ApplyResult PoolState::on(const DecisionMade& event, Context context) {
  Scratch<1024> room;
  Seats seats(&room);
  if (Status status = seat(event, seats); !status) return refused(status.error());
  return remember(event, seats, context.id);
}

Status PoolState::seat(const DecisionMade& event, Seats& seats) {
  const bool known = find_seats(event.responses, event.segment, members, cells, seats);
  if (Status status = check_decision(event, config, known); !status || known) return status;
  const std::vector<Speaker> speakers = speakers_of(event.responses);
  if (Status status = check_room(speakers, event.segment, members, cells, config); !status) return status;
  seat_all(speakers, event.segment, members, cells, recipe, seats);
  return {};
}

void PoolState::prepare(std::span<const Seat> seats) {
  for (const Seat& seat : seats) {
    if (seat.part) cells.calibrator(seat.cell).prepare(seat.model);
  }
  trust->prepare();
}

ApplyResult PoolState::remember(const DecisionMade& event, std::span<const Seat> seats, Uuid id) {
  DecisionRecord record{.id = id,
                        .time_ms = time_ms,
                        .kind = event.kind,
                        .selected = event.selected,
                        .audit_rate = event.audit_rate,
                        .answers = event.answers};
  record.responses.reserve(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const RecordedResponse& response = event.responses[i];
    const bool speaks = usable(response.confidence, response.abstained);
    record.responses.push_back({.model = seats[i].model,
                                .cell = seats[i].cell,
                                .answer = response.answer,
                                .usable = speaks,
                                .part = seats[i].part,
                                .confidence = speaks ? *response.confidence : 0.0,
                                .calibrated = response.calibrated});
    record.set_audit(record.responses.back(), response.audit);
  }
  if (event.selected != kNoAnswer) {
    record.p_correct = event.sure.p_correct;
    // The share of another vote says nothing about this pool's; a primary's is a calibrated confidence, as a lone ballot's.
    if (event.vote.empty() || event.vote == kPrimary) {
      record.share = event.share;
      trust->decided();
    }
  }
  DecisionRecord& kept = decisions.add(std::move(record));
  if (decisions.added() % kPreparedEvery == 0) prepare(seats);

  ApplyResult result;
  for (const EarlyFeedback::Entry& entry : early.take(id)) {
    const FeedbackMark mark{entry.id, entry.verdict.source, entry.reverted, time_ms};
    const auto outcomes = outcomes_of(entry.verdict, kept, members, cells);
    if (!outcomes) {
      result.dropped.push_back(entry.id);
      continue;
    }
    ApplyResult joined = this->record(kept, mark, entry.verdict, *outcomes);
    if (joined.status == ApplyStatus::kConflict) result.dropped.push_back(entry.id);
    if (joined.status == ApplyStatus::kApplied || joined.status == ApplyStatus::kDuplicate) {
      result.joined.push_back({entry.id, joined.status, joined.learned});
    }
    for (std::string& model : joined.learned) result.learned.push_back(std::move(model));
    for (std::string& model : joined.implied) result.implied.push_back(std::move(model));
    for (std::string& model : joined.capped) result.capped.push_back(std::move(model));
    for (std::string& model : joined.unlearned) result.unlearned.push_back(std::move(model));
  }
  decisions.forget_beyond(config.decisions_max, [&](DecisionRecord& oldest) { watch.close(oldest, time_ms); });
  return result;
}

}  // namespace margin::internal
