#include <limits>
#include <memory>
#include <vector>

#include "margin/vote.h"
#include "trace.h"

namespace margin::determinism {
namespace {

constexpr int kTasks = 2000;
constexpr ModelId kModels = 10;
constexpr std::uint32_t kAnswers = 4;

void live(Vote& vote, Trace& trace) {
  Random random(8);
  Tally tally;
  for (int task = 0; task < kTasks; ++task) {
    const auto right = static_cast<std::uint32_t>(random.below(kAnswers));
    std::vector<Ballot> ballots;
    std::vector<double> outcomes;
    for (ModelId model = 0; model < kModels; ++model) {
      if (random.chance(0.3)) continue;
      Ballot ballot{.model = model, .confidence = confidence(random)};
      // Models 2 and 3 are copies of one another in half of the tasks.
      if (!(model == 3 && !ballots.empty() && ballots.back().model == 2 && random.chance(0.5))) {
        ballot.answer = random.chance(0.3 + 0.05 * model) ? right : static_cast<std::uint32_t>(random.below(kAnswers));
      } else {
        ballot.answer = ballots.back().answer;
      }
      outcomes.push_back(ballot.answer == right ? 1.0 : 0.0);
      if (random.chance(0.05)) ballot.answer = kNoAnswer;
      if (random.chance(0.1)) outcomes.back() = random.chance(0.5) ? random.uniform() : std::numeric_limits<double>::quiet_NaN();
      ballots.push_back(ballot);
    }
    vote.tally(ballots, kAnswers, tally);
    for (const double score : tally.scores) trace.see(score);
    trace.see(std::uint64_t{tally.winner});
    trace.see(tally.share);
    trace.see(tally.runner_up_gap);
    if (tally.winner != kNoAnswer) trace.see(vote.weight(ballots, tally.ballot));
    vote.learn(ballots, kAnswers, outcomes);
  }
  trace.see(vote.digest());
}

void probe(const VoteInfo& info, const Parameters& parameters, const std::string& label) {
  auto vote = make_vote(info.identifier, info.version, parameters);
  Trace trace;
  if (vote.ok()) {
    live(**vote, trace);
  } else {
    trace.see(vote.error().message);
  }
  trace.print("vote " + info.identifier + " v" + std::to_string(info.version) + " " + label);
}

}  // namespace

void probe_votes() {
  for (const auto catalog : {vote_catalog(), replaced_votes()}) {
    for (const VoteInfo* info : catalog) {
      probe(*info, {}, "defaults");
      for (const ParameterSpec& spec : info->parameters) {
        const ParameterValue value = other_value(spec);
        probe(*info, {{spec.name, value}}, spec.name + "=" + to_text(value));
      }
    }
  }
}

}  // namespace margin::determinism
