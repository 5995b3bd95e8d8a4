#include "experiment/doctor_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/passes_report.h"
#include "report/text.h"

namespace margin::experiment {
namespace {

constexpr std::size_t kNamesShown = 5;

std::string percent(double fraction) { return report::fixed(100.0 * fraction, 1) + "%"; }
// Where a rough figure reads better.
std::string whole_percent(double fraction) { return report::fixed(100.0 * fraction, 0) + "%"; }
std::string points(double fraction) {
  const std::string number = report::fixed(100.0 * std::fabs(fraction), 1);
  return number + (number == "1.0" ? " point" : " points");
}
// "between -1.2 and 0.4 points".
std::string between(const report::Interval& interval) {
  return fmt::format("between {} and {} points", report::fixed(100.0 * interval.low, 1), report::fixed(100.0 * interval.high, 1));
}
std::string names(const std::vector<std::string>& all) {
  const std::size_t shown = std::min(all.size(), kNamesShown);
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < all.size()) text += fmt::format(" and {} more", all.size() - shown);
  return text;
}
// Two significant digits: more would pretend.
std::string about(double count) {
  double unit = 1.0;
  while (count / unit >= 100.0) unit *= 10.0;
  return "about " + report::with_commas(std::ceil(count / unit) * unit);
}
std::string is(std::size_t count) { return count == 1 ? "is" : "are"; }
std::string of_all(const LogCheck& check, std::string_view thing) {
  return fmt::format("{} of {}", report::with_commas(static_cast<double>(check.count)), counted(check.of, thing));
}

// What is wrong, and what to do about it; only for what is not ok.
std::string advice(const LogCheck& check) {
  const bool none = check.count == 0;
  switch (check.aspect) {
    case Aspect::kConfidence:
      return fmt::format(
          "Only {} can be used; the others state no confidence, or no answer where one is required, or abstained. See which models below, "
          "and repair how "
          "their replies are read.",
          of_all(check, "row"));
    case Aspect::kOutcome:
      return none ? "No response has an outcome. Nothing can be learned or judged: fill in `correct`, at least for a sample of the tasks."
                  : fmt::format("Only {} an outcome. The others teach nothing; grade them, or a random sample of them.",
                                of_all(check, "response") + (check.count == 1 ? " has" : " have"));
    case Aspect::kBothOutcomes:
      return none ? "Every model is always right or always wrong: there is nothing to tell apart. Check that `correct` is what you mean."
                  : fmt::format("Always right or always wrong: {}. Check how their answers are graded.", names(check.models));
    case Aspect::kOutcomesPerModel:
      return fmt::format("Fewer than {} outcomes: {}. Nothing firm can be said of {}; collect more.", kOutcomesEnough, names(check.models),
                         check.models.size() == 1 ? "it" : "them");
    case Aspect::kOutcomesPerBand:
      return fmt::format(
          "Most levels of confidence (low, middle, high, by model) have fewer than {} outcomes: {} have enough. Calibration "
          "there leans on each model's average.",
          kOutcomesEnough, of_all(check, "level"));
    case Aspect::kVariation:
      return fmt::format(
          "Always the same confidence: {}. Calibration can learn how often such a model is right, not which of its answers. "
          "Ask for a confidence in each answer.",
          names(check.models));
    case Aspect::kScale:
      return fmt::format("No confidence is above {}. Were fractions divided by --scale?", whole_percent(kConfidenceTiny));
    case Aspect::kAnswer:
      return none ? "No response states its answer, so nothing can be said of voting. Log the field `answer`."
                  : fmt::format("Only {} an answer; the others do not vote.",
                                of_all(check, "response") + (check.count == 1 ? " states" : " state"));
    case Aspect::kSeveralModels:
      return none ? "No task was answered by two models, so there is nothing to vote about. Ask several models the same question, for a "
                    "while."
                  : fmt::format("Only {} answered by two or more models; voting matters only there.",
                                of_all(check, "task") + " " + is(check.count));
    case Aspect::kDisagreement:
      return none ? "Answers never differ, so there is nothing to vote about. Are answers logged as the models gave them?"
                  : fmt::format("Answers differ on only {}: voting can hardly change anything.", of_all(check, "task"));
    case Aspect::kTime:
      return none ? "No response says when it was (`t`). The order of the file is taken for the order of time."
                  : fmt::format("Only {} a time (`t`). The order of the file is taken for the order of time.",
                                of_all(check, "task") + (check.count == 1 ? " states" : " state"));
    case Aspect::kTimeOrder:
      return "The file is not in the order of time. Replay follows the file; sort it by `t` to see what would have happened live.";
  }
  return "";
}

std::string too_few(std::size_t tasks) {
  return fmt::format("{} with a known outcome; below {} nothing can be said", counted(tasks, "task"), kOutcomesEnough);
}

std::string calibration_sentence(const Diagnosis& found) {
  const Answer answer = found.calibration_answer();
  if (answer == Answer::kNotThere) return "Of calibration nothing can be said: no outcome is known.";
  const Contrast& ece = found.calibration.front().ece;
  switch (answer) {
    case Answer::kHelps:
      return fmt::format(
          "Calibration helps: the average distance between the confidence shown and how often it is right falls from {} to {}.",
          points(*ece.base.value), points(*ece.ours.value));
    case Answer::kHurts:
      return fmt::format("Do not calibrate: stated confidence is {} off, and calibrated confidence judges single answers worse.",
                         points(*ece.base.value));
    case Answer::kNoGain:
      return fmt::format("Calibration has little to offer: stated confidence is {} off on average, and at best {} could be gained.",
                         points(*ece.base.value), points(std::max(0.0, ece.best_gain)));
    case Answer::kTooFew: return fmt::format("Whether calibration helps is not known: {}.", too_few(ece.tasks));
    default: return fmt::format("Whether calibration helps is not known: {} could still go either way.", counted(ece.tasks, "task"));
  }
}

// What the vote is held against first, in words.
struct Rival {
  const Contrast* contrast;
  std::string name;
};
Rival rival_of(const VotingFindings& voting) {
  const Answer committed = voting.over_committed.answer;
  const bool hindsight = voting.over_best_single.answer == Answer::kHelps || committed == Answer::kNotThere || committed == Answer::kTooFew;
  if (hindsight) return {&voting.over_best_single, fmt::format("the best single model, {}", voting.best_single_model)};
  return {&voting.over_committed, fmt::format("the model you would have chosen on the first half, {}", voting.committed_model)};
}

std::string voting_sentence(const Diagnosis& found) {
  if (!found.voting) return "Of voting nothing can be said: no task has answers of two models.";
  const auto [contrast, name] = rival_of(*found.voting);
  const std::string levels = !contrast->ours.value || !contrast->base.value
                                 ? ""
                                 : fmt::format("the vote is right on {} of the tasks, {}, on {}", percent(*contrast->ours.value), name,
                                               percent(*contrast->base.value));
  switch (found.voting_answer()) {
    case Answer::kHelps: return fmt::format("Voting helps: {}.", levels);
    case Answer::kHurts: return fmt::format("Voting does not pay: {}.", levels);
    case Answer::kNoGain: return fmt::format("Voting has little to offer: {}.", levels);
    case Answer::kTooFew: return fmt::format("Whether voting helps is not known: {}.", too_few(contrast->tasks));
    case Answer::kNotThere:
      return "Whether voting beats one model is not known: no task with an outcome was answered by all models, so none can be called the "
             "best.";
    default: return fmt::format("Whether voting beats one model is not known yet: {}.", levels);
  }
}

// "12.1 points (95% interval 9.8 to 14.0)".
std::string with_interval(const report::Estimate& estimate) {
  if (!estimate.interval) return points(estimate.value);
  const double sign = estimate.value < 0.0 ? -1.0 : 1.0;
  const double a = 100.0 * sign * estimate.interval->low, b = 100.0 * sign * estimate.interval->high;
  return fmt::format("{} (95% interval {} to {})", points(estimate.value), report::fixed(std::min(a, b), 1),
                     report::fixed(std::max(a, b), 1));
}

std::string over_or_under(const report::Estimate& gap) {
  return fmt::format("{} by {}", gap.value >= 0.0 ? "overconfident" : "underconfident", with_interval(gap));
}

// A sentence on one alternative to the vote.
std::string against(const Contrast& contrast, const std::string& what) {
  if (!contrast.difference || !contrast.difference->interval) return "";
  const std::string levels = fmt::format("{} against {}", percent(*contrast.ours.value), percent(*contrast.base.value));
  switch (contrast.answer) {
    case Answer::kHelps: return fmt::format("It beats {} by {}: {}.", what, with_interval(*contrast.difference), levels);
    case Answer::kHurts: return fmt::format("It loses to {} by {}: {}.", what, with_interval(*contrast.difference), levels);
    case Answer::kTooFew: return fmt::format("Against {} there are too few tasks to judge ({}).", what, levels);
    default:
      return fmt::format("Against {} the difference is {}, so it could be nothing: {}.", what, between(*contrast.difference->interval),
                         levels);
  }
}

std::string need_sentence(const Contrast& contrast, std::string_view what, double effect) {
  const std::string now = counted(contrast.tasks, "task");
  const auto needed = [&](const std::optional<double>& tasks, double difference) {
    return tasks ? fmt::format("{} for a difference of {}", about(*tasks), points(difference)) : std::string();
  };
  switch (contrast.answer) {
    case Answer::kNotThere: return "";
    case Answer::kNoGain: return fmt::format("{}: {} are enough to say that any gain is below {}.", what, now, points(effect));
    case Answer::kHelps:
    case Answer::kHurts: {
      if (!contrast.tasks_for_observed) return fmt::format("{}: known, from {}.", what, now);
      const bool lucky = *contrast.tasks_for_observed > static_cast<double>(contrast.tasks);
      return fmt::format("{}: known, from {}{} a difference this large is seen reliably from {} tasks on.", what, now,
                         lucky ? ", with some luck:" : ";", about(*contrast.tasks_for_observed));
    }
    default: break;
  }
  const double observed = contrast.difference ? contrast.difference->value : 0.0;
  std::string wanted = needed(contrast.tasks_for_effect, effect);
  if (contrast.tasks_for_observed && std::fabs(observed) > effect) wanted = needed(contrast.tasks_for_observed, observed) + ", " + wanted;
  if (wanted.empty()) return fmt::format("{}: not known from {}, too few to say how many are needed.", what, now);
  return fmt::format("{}: not known from {}. To know takes {}{}.", what, now, wanted,
                     contrast.answer == Answer::kTooFew ? "; from so few tasks these are rough guesses" : "");
}

std::string_view short_answer(Answer answer) {
  switch (answer) {
    case Answer::kHelps: return "yes";
    case Answer::kHurts:
    case Answer::kNoGain: return "no";
    case Answer::kNotThere: return "cannot be judged";
    default: return "not enough data yet";
  }
}

void add(std::vector<std::string>& paragraphs, std::string text) {
  if (!text.empty()) paragraphs.push_back(std::move(text));
}

}  // namespace

std::string_view name_of(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kWarn: return "warn";
    case Health::kBad: return "bad";
  }
  return "";
}

std::string_view name_of(Answer answer) {
  switch (answer) {
    case Answer::kHelps: return "yes";
    case Answer::kHurts: return "no, worse";
    case Answer::kNoGain: return "no, too little to gain";
    case Answer::kUnknown: return "not known yet";
    case Answer::kTooFew: return "too few tasks";
    case Answer::kNotThere: return "cannot be judged";
  }
  return "";
}

std::string_view name_of(Aspect aspect) {
  switch (aspect) {
    case Aspect::kConfidence: return "rows that can be used";
    case Aspect::kOutcome: return "responses with an outcome";
    case Aspect::kBothOutcomes: return "models both right and wrong at times";
    case Aspect::kOutcomesPerModel: return "models with 30 outcomes";
    case Aspect::kOutcomesPerBand: return "model and band with 30 outcomes";
    case Aspect::kVariation: return "models whose confidence varies";
    case Aspect::kScale: return "responses above 2% confidence";
    case Aspect::kAnswer: return "responses with an answer";
    case Aspect::kSeveralModels: return "tasks with two or more models";
    case Aspect::kDisagreement: return "tasks whose answers differ";
    case Aspect::kTime: return "tasks with a time";
    case Aspect::kTimeOrder: return "tasks in the order of time";
  }
  return "";
}

std::string verdict(const Diagnosis& found) {
  const std::string_view calibration = short_answer(found.calibration_answer()), voting = short_answer(found.voting_answer());
  const std::string lead =
      calibration == voting ? fmt::format("Verdict: {}.", calibration) : fmt::format("Calibration: {}. Voting: {}.", calibration, voting);
  return fmt::format("{} {} {}", lead, calibration_sentence(found), voting_sentence(found));
}

std::vector<std::string> usability_words(const LogFacts& facts) {
  std::vector<std::string> paragraphs;
  const std::string what = fmt::format("{} of {} on {}, {} known", counted(facts.rows, "row"), counted(facts.models.size(), "model"),
                                       counted(facts.tasks, "task"), counted(facts.outcomes, "outcome"));
  const auto words = [](Health health, std::string_view purpose) {
    return fmt::format("{} for {}{}", health == Health::kBad ? "not enough" : "usable", purpose,
                       health == Health::kWarn ? ", with remarks" : "");
  };
  const std::string usable =
      facts.for_calibration() == facts.for_voting()
          ? fmt::format("The log is {}", words(facts.for_voting(), "calibration and voting"))
          : fmt::format("The log is {}; it is {}", words(facts.for_calibration(), "calibration"), words(facts.for_voting(), "voting"));
  paragraphs.push_back(fmt::format("{}: {}.", usable, what));
  for (const LogCheck& check : facts.checks) {
    const bool said_already = check.of == 0;  // by the aspects before it
    if (check.health != Health::kOk && !said_already) paragraphs.push_back(fmt::format("[{}] {}", name_of(check.health), advice(check)));
  }
  return paragraphs;
}

std::vector<std::string> calibration_words(const Diagnosis& found) {
  std::vector<std::string> paragraphs = {calibration_sentence(found)};
  if (found.headline) {
    const Headline& headline = *found.headline;
    const double share = static_cast<double>(headline.rows) / static_cast<double>(found.facts.outcomes);
    paragraphs.push_back(fmt::format(
        "When your models say about {}, as they do most often ({} of the graded responses), they are right {} of the "
        "time. Calibrated, the same responses "
        "say {} on average.",
        whole_percent(headline.stated), whole_percent(share), whole_percent(headline.accuracy), whole_percent(headline.calibrated)));
  }
  const Level* worst = nullptr;
  for (const Level& model : found.models) {
    if (model.stated.rows < kOutcomesEnough) continue;
    if (worst == nullptr || std::fabs(*model.stated.gap.value) > std::fabs(*worst->stated.gap.value)) worst = &model;
  }
  if (worst != nullptr) {
    const auto before = estimate_of(worst->stated.gap), after = estimate_of(worst->calibrated.gap);
    const bool certain = before->interval && (before->interval->low > 0.0 || before->interval->high < 0.0);
    paragraphs.push_back(certain ? fmt::format("The model furthest off is {}: {}; {} after calibration.", worst->name,
                                               over_or_under(*before), over_or_under({after->value, {}}))
                                 : "No model is off by more than chance explains.");
  }
  return paragraphs;
}

std::vector<std::string> voting_words(const Diagnosis& found) {
  std::vector<std::string> paragraphs = {voting_sentence(found)};
  if (!found.voting || !found.voting->vote.value) return paragraphs;
  const VotingFindings& voting = *found.voting;
  std::string details = against(voting.over_raw_vote, "the same vote with stated confidence");
  const auto append = [&](const std::string& sentence) {
    if (!sentence.empty()) details += (details.empty() ? "" : " ") + sentence;
  };
  if (!voting.committed_model.empty()) {
    append(against(voting.over_committed, fmt::format("{}, chosen on the first half and judged on the second,", voting.committed_model)));
  }
  if (!voting.best_single_model.empty()) {
    append(against(voting.over_best_single,
                   fmt::format("{}, the best single model, which is known only afterwards,", voting.best_single_model)));
  }
  append(against(voting.over_random, "a model picked at random"));
  add(paragraphs, details);
  if (voting.oracle.value) {
    paragraphs.push_back(fmt::format("On {} of the tasks at least one model was right: no way to choose among these answers can do better.",
                                     percent(*voting.oracle.value)));
  }
  return paragraphs;
}

std::vector<std::string> need_words(const Diagnosis& found) {
  std::vector<std::string> paragraphs;
  if (!found.calibration.empty()) {
    const CalibrationFindings& first = found.calibration.front();
    if (first.answer() == Answer::kUnknown && first.ece.answer == Answer::kHelps && first.brier.tasks_for_observed) {
      // The other half of the claim is what is missing.
      paragraphs.push_back(fmt::format(
          "Calibration: the error of confidence falls beyond chance, but not yet the Brier score, which also asks whether right answers "
          "are told from wrong ones. To know takes {} tasks, if what is seen so far is true.",
          about(*first.brier.tasks_for_observed)));
    } else {
      add(paragraphs, need_sentence(first.ece, "Calibration", found.effect));
    }
  }
  if (found.voting) {
    const auto [contrast, name] = rival_of(*found.voting);
    add(paragraphs, need_sentence(*contrast, "Voting against one model", found.effect));
    add(paragraphs, need_sentence(found.voting->over_raw_vote, "Voting with calibrated against stated confidence", found.effect));
  }
  const Settling& settling = found.settling;
  if (settling.settled_at) {
    const bool at_once = *settling.settled_at == 0;
    paragraphs.push_back(
        fmt::format("How soon calibration works: {}, its error stayed within {} of its long-run value of {} (tasks in random order).",
                    at_once ? "from the first outcomes on"
                            : fmt::format("after {} outcomes per model", report::with_commas(static_cast<double>(*settling.settled_at))),
                    points(Settling::kTolerance), percent(settling.stages.back().ece)));
  } else {
    paragraphs.push_back("How soon calibration works cannot be seen: it takes at least 40 outcomes per model.");
  }
  return paragraphs;
}

std::vector<std::string> change_words(const Diagnosis& found) {
  const std::string halves = found.by_time ? "the first half of the time" : "the first half of the file";
  const Change& all = found.overall;
  if (!all.difference || !all.difference->interval || found.facts.graded_tasks < 2 * kOutcomesEnough) {
    return {fmt::format("Too few outcomes to compare {} with the second.", halves)};
  }
  std::vector<std::string> paragraphs;
  const std::string levels =
      fmt::format("confidence minus accuracy was {} points in {} and {} points in the second",
                  report::fixed(100.0 * *all.early.gap.value, 1), halves, report::fixed(100.0 * *all.late.gap.value, 1));
  std::vector<std::string> changed;
  for (const Change& change : found.changes) {
    if (!change.changed) continue;
    changed.push_back(fmt::format("{} ({} to {})", change.name, report::fixed(100.0 * *change.early.gap.value, 1),
                                  report::fixed(100.0 * *change.late.gap.value, 1)));
  }
  if (!all.changed) {
    paragraphs.push_back(fmt::format("Not visibly, over all models: {}, a change of {}.", levels, between(*all.difference->interval)));
  } else if (changed.empty()) {
    paragraphs.push_back(
        fmt::format("Over all models, yes: {}. No single model changed beyond chance: it is the mix of models that did.", levels));
  } else {
    paragraphs.push_back(fmt::format("Yes: {}. What was learned once does not stay true: calibration has to go on learning.", levels));
  }
  if (!changed.empty()) {
    paragraphs.push_back(fmt::format("Models that changed beyond chance, confidence minus accuracy in points: {}.", names(changed)));
  }
  return paragraphs;
}

}  // namespace margin::experiment
