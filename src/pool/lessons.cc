// What a feedback teaches: the grades it brought, and through the pool's remedy what follows from them for the decision's other responses.
// docs/pool.md#feedback-on-some-responses-only has the rules.
#include <algorithm>

#include "pool/state.h"

namespace margin::internal {

bool PoolState::would_heed(std::string_view source, ModelId model, double weight) const {
  return config.source_share_max >= 1.0 || influence.has_room(source, model, weight, config.source_share_max);
}

bool PoolState::heeds(const FeedbackMark& feedback, ModelId model, double weight) {
  return config.source_share_max >= 1.0 || influence.take(feedback.source, model, weight, config.source_share_max);
}

bool PoolState::remedied(const DecisionRecord& decision) const {
  return remedy.kind() != RemedyKind::kNone && (remedy.kind() != RemedyKind::kImplied || one_right_answer(decision.kind));
}

std::vector<PoolState::Taught> PoolState::learn(DecisionRecord& decision, const Grading& grading) {
  const bool through_remedy = remedied(decision);
  if (through_remedy && frozen) return {};
  std::vector<Taught> lessons = through_remedy ? remedied_lessons(decision, grading) : plain_lessons(decision, grading);
  teach(decision, lessons);

  const auto graded_now = [&](std::size_t i) { return decision.responses[i].votes(); };
  const auto waits = [](const DecisionRecord::Response& response) { return response.votes() && !response.graded(); };
  const bool vote_learns = through_remedy ? settles(decision, grading)
                                          : std::any_of(grading.news.begin(), grading.news.end(), graded_now) &&
                                                std::none_of(decision.responses.begin(), decision.responses.end(), waits);
  if (vote_learns) teach_vote(decision);
  return lessons;
}

std::vector<PoolState::Taught> PoolState::plain_lessons(const DecisionRecord& decision, const Grading& grading) {
  std::vector<Taught> lessons;
  for (const std::size_t i : grading.news) {
    const DecisionRecord::Response& response = decision.responses[i];
    const DecisionRecord::Outcome& outcome = decision.outcome_of(response);
    if (response.learned) lessons.push_back({i, outcome.value, outcome.weight});
  }
  return lessons;
}

// Before this feedback nobody had said whether the selection was right, now somebody has.
bool PoolState::settles(const DecisionRecord& decision, const Grading& grading) {
  bool now = false;
  for (const DecisionRecord::Response& response : decision.responses) {
    if (!response.part || !decision.supports(response) || !response.graded()) continue;
    if (decision.outcome_of(response).feedback != grading.feedback) return false;
    now = true;
  }
  return now;
}

std::vector<PoolState::Taught> PoolState::remedied_lessons(DecisionRecord& decision, const Grading& grading) {
  const bool settling = settles(decision, grading);
  const auto propensity = [&](const DecisionRecord::Response& response) {
    const bool graded_now = response.graded() && decision.outcome_of(response).feedback == grading.feedback;
    if (decision.supports(response)) return response.graded() && !graded_now ? 0.0 : 1.0;
    if (!response.graded()) return decision.audit_rate;
    if (graded_now && grading.complete) return 1.0;
    // What came before the selection was settled speaks for the others only now; later on it has done so.
    return graded_now || settling ? decision.audit_of(response) : 0.0;
  };

  std::vector<TaskResponse> task;
  std::vector<std::size_t> response_of;
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    const DecisionRecord::Response& response = decision.responses[i];
    if (!response.part) continue;
    const DecisionRecord::Outcome& outcome = decision.outcome_of(response);
    task.push_back({.model = response.model,
                    .confidence = response.confidence,
                    .selected = decision.supports(response),
                    .outcome = response.graded() ? outcome.value : kNoOutcome,
                    .weight = response.graded() ? outcome.weight : 1.0,
                    .propensity = propensity(response)});
    response_of.push_back(i);
  }
  std::vector<Lesson> lessons;
  remedy.learn(task, lessons);

  std::vector<Taught> taught;
  for (std::size_t t = 0; t < task.size(); ++t) {
    const std::size_t i = response_of[t];
    DecisionRecord::Response& response = decision.responses[i];
    if (response.graded()) {
      const bool fresh = std::find(grading.news.begin(), grading.news.end(), i) != grading.news.end();
      if (fresh && response.learned) taught.push_back({i, lessons[t].outcome, lessons[t].weight});
      continue;
    }
    if (!settling || lessons[t].origin == Lesson::Origin::kNothing || !members[response.model].present()) continue;
    if (!heeds(decision.later->feedbacks[grading.feedback], response.model, grading.weight)) continue;
    response.standing = lessons[t].origin == Lesson::Origin::kImplied ? Standing::kImplied : Standing::kEstimated;
    decision.change_outcome(response).value = lessons[t].outcome;
    response.learned = true;
    taught.push_back({i, lessons[t].outcome, lessons[t].weight * grading.weight});
  }
  return taught;
}

void PoolState::teach(const DecisionRecord& decision, std::span<const Taught> lessons) {
  std::vector<CellId> touched;
  for (const Taught& lesson : lessons) {
    const CellId cell = decision.responses[lesson.response].cell;
    if (std::find(touched.begin(), touched.end(), cell) == touched.end()) touched.push_back(cell);
  }
  // To a cell, one accepted feedback is one task.
  for (const CellId cell : touched) cells.calibrator(cell).begin_task();
  for (const Taught& lesson : lessons) {
    const DecisionRecord::Response& response = decision.responses[lesson.response];
    // A cell that was configured anew since the decision does not know the model yet.
    cells.enter(response.cell, response.model, members[response.model].predecessor);
    cells.observe(response.cell,
                  {.model = response.model, .confidence = response.confidence, .outcome = lesson.outcome, .weight = lesson.weight});
  }
  for (const CellId cell : touched) cells.calibrator(cell).end_task();
}

// From the ballots whose outcome was learned, and those that have none: what came while learning was frozen, or while its model was away,
// teaches nobody, an estimate is no outcome, and what is implied is known only beside a right selection: taught by it, a vote would learn
// that whoever it follows is right. The task weighs as much as its least weighty grade.
void PoolState::teach_vote(const DecisionRecord& decision) {
  std::vector<Ballot> ballots;
  std::vector<double> outcomes;
  // Numbered anew, in the order they come: an answer without a ballot must not stand for election.
  std::vector<std::uint32_t> number(decision.answers.size(), kNoAnswer);
  std::uint32_t answers = 0;
  double weight = 1.0;
  bool any_known = false;
  for (const DecisionRecord::Response& response : decision.responses) {
    if (!response.votes() || !(response.learned || (!response.graded() && members[response.model].present()))) continue;
    if (number[response.answer] == kNoAnswer) number[response.answer] = answers++;
    ballots.push_back({response.model, number[response.answer], response.calibrated});
    const DecisionRecord::Outcome& outcome = decision.outcome_of(response);
    outcomes.push_back(response.graded() ? outcome.value : kNoOutcome);
    if (response.graded()) weight = std::min(weight, outcome.weight);
    any_known |= response.graded();
  }
  if (any_known) vote->learn(ballots, answers, outcomes, weight);
}

}  // namespace margin::internal
