// Pairwise resolution: of two models with different outcomes, how often has the more confident one the better.
#include "margin/selection_metric.h"

namespace margin {
namespace {

constexpr double kRight = 0.5;

struct Pair {
  const GradedResponse& a;
  const GradedResponse& b;

  [[nodiscard]] bool either_right() const { return *a.outcome >= kRight || *b.outcome >= kRight; }
  [[nodiscard]] bool same_outcome() const { return *a.outcome == *b.outcome; }
  [[nodiscard]] bool different_answers() const { return a.answer != kNoAnswer && b.answer != kNoAnswer && a.answer != b.answer; }
  [[nodiscard]] bool missing() const { return !a.stated || !b.stated; }
};

bool is_contest(const Pair& pair, ContestRule rule) {
  return rule == ContestRule::kPassed ? !pair.same_outcome() : pair.different_answers() && pair.either_right();
}

int order_of(double a, double b) { return static_cast<int>(a > b) - static_cast<int>(a < b); }

// +1: the better outcome has the higher confidence; -1: the lower; 0: they are equal, or the outcomes are.
int sign_of(const Pair& pair, double confidence_a, double confidence_b) {
  return order_of(confidence_a, confidence_b) * order_of(*pair.a.outcome, *pair.b.outcome);
}

void count_contest(const Pair& pair, const ResolutionRules& rules, Resolution& counts) {
  const auto count = [&](double points) {
    counts.points += points;
    ++counts.contests;
  };
  if (pair.missing()) {
    ++counts.missing;
    if (rules.missing == MissingRule::kHalf) count(0.5);
    return;
  }
  if (pair.same_outcome()) return count(1.0);  // two different right answers: whichever is picked, it is right
  int sign = sign_of(pair, pair.a.calibrated, pair.b.calibrated);
  if (sign == 0 && rules.tie == TieRule::kRaw) sign = sign_of(pair, *pair.a.stated, *pair.b.stated);
  if (sign != 0) return count(sign > 0 ? 1.0 : 0.0);
  ++counts.ties;
  if (rules.tie == TieRule::kHalf) count(0.5);
}

template <class Rule>
struct Named {
  std::string_view name;
  Rule rule;
};

template <class Rule, std::size_t N>
Result<Rule> parse_rule(std::string_view what, std::string_view name, const Named<Rule> (&known)[N]) {
  std::string expected;
  for (const Named<Rule>& candidate : known) {
    if (candidate.name == name) return candidate.rule;
    expected += (expected.empty() ? "" : ", ") + std::string(candidate.name);
  }
  return {ErrorCode::kInvalidArgument, std::string(what) + ": '" + std::string(name) + "' is not one of " + expected};
}

}  // namespace

Result<ContestRule> parse_contest_rule(std::string_view name) {
  constexpr Named<ContestRule> kKnown[] = {{"passed", ContestRule::kPassed}, {"answers", ContestRule::kAnswers}};
  return parse_rule("contest", name, kKnown);
}

Result<TieRule> parse_tie_rule(std::string_view name) {
  constexpr Named<TieRule> kKnown[] = {{"half", TieRule::kHalf}, {"strict", TieRule::kStrict}, {"raw", TieRule::kRaw}};
  return parse_rule("tie", name, kKnown);
}

Result<MissingRule> parse_missing_rule(std::string_view name) {
  constexpr Named<MissingRule> kKnown[] = {{"leave", MissingRule::kLeftOut}, {"half", MissingRule::kHalf}};
  return parse_rule("nan", name, kKnown);
}

std::optional<double> Resolution::value() const {
  if (contests == 0) return std::nullopt;
  return points / static_cast<double>(contests);
}

Resolution& Resolution::operator+=(const Resolution& other) {
  points += other.points;  // halves: exact
  contests += other.contests;
  ties += other.ties;
  missing += other.missing;
  both_right += other.both_right;
  both_wrong += other.both_wrong;
  return *this;
}

Resolution resolution(GradedTask task, const ResolutionRules& rules) {
  Resolution counts;
  // Nobody can foresee which outcomes differ and who is ahead, so the common case is counted without a branch on either.
  const bool simple = rules.contest == ContestRule::kPassed && rules.tie == TieRule::kHalf;
  std::size_t ahead = 0;
  std::size_t level = 0;
  std::size_t behind = 0;
  for (std::size_t i = 0; i < task.size(); ++i) {
    for (std::size_t j = i + 1; j < task.size(); ++j) {
      if (!task[i].outcome || !task[j].outcome) continue;
      const Pair pair{task[i], task[j]};
      const bool same = pair.same_outcome();
      const bool right = pair.either_right();
      counts.both_wrong += static_cast<std::size_t>(!right && (same || rules.contest == ContestRule::kAnswers));
      counts.both_right += static_cast<std::size_t>(right && same);
      if (simple && !pair.missing()) {
        const int sign = sign_of(pair, pair.a.calibrated, pair.b.calibrated);
        ahead += static_cast<std::size_t>(sign > 0);
        behind += static_cast<std::size_t>(sign < 0);
        level += static_cast<std::size_t>(!same && sign == 0);
      } else if (is_contest(pair, rules.contest)) {
        count_contest(pair, rules, counts);
      }
    }
  }
  counts.points += static_cast<double>(ahead) + 0.5 * static_cast<double>(level);  // halves: exact
  counts.contests += ahead + level + behind;
  counts.ties += level;
  return counts;
}

Resolution resolution(std::span<const GradedTask> tasks, const ResolutionRules& rules) {
  Resolution counts;
  for (const GradedTask task : tasks) counts += resolution(task, rules);
  return counts;
}

}  // namespace margin
