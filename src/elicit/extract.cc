// Answers by task. A wrong answer is worse than none: two letters, two boxes left open or an unclosed fence give nothing.
#include "elicit/extract.h"

#include <re2/re2.h>

#include <algorithm>

#include "elicit/label.h"
#include "elicit/lines.h"

namespace margin::elicit {
namespace {

// A longer line is a paragraph.
constexpr std::size_t kAnswerLineBytesMax = 4096;

constexpr std::string_view kMarks = "*_`";
constexpr std::string_view kBehindLabel = "*_` \t\xc2\xa0\xe2\x80\xaf";  // marks and spaces, among them the bytes of no-break ones

Extract marked(std::string_view answer) { return {.answer = std::string(trimmed(answer)), .marked = !trimmed(answer).empty()}; }
Extract unmarked(std::string_view answer) { return {.answer = std::string(trimmed(answer))}; }

// "**Paris**" says "Paris".
std::string_view without_emphasis(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view mark : {"**", "__", "*", "_", "`"}) {
    if (text.size() > 2 * mark.size() && text.starts_with(mark) && text.ends_with(mark)) {
      text.remove_prefix(mark.size());
      text.remove_suffix(mark.size());
    }
  }
  return trimmed(text);
}

// What the last closed \boxed{...} holds; an outer box counts, not the one within it. One pass, braces matched by a stack.
std::optional<std::string_view> last_box(std::string_view text) {
  struct Open {
    std::size_t at;
    bool box;
  };
  std::vector<Open> open;
  std::optional<std::string_view> box;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // an escaped brace is no brace
    } else if (text[i] == '{') {
      const std::string_view before = text.substr(0, i);
      open.push_back({.at = i, .box = before.ends_with("\\boxed") || before.ends_with("\\fbox")});
    } else if (text[i] == '}' && !open.empty()) {
      if (open.back().box) box = text.substr(open.back().at + 1, i - open.back().at - 1);
      open.pop_back();
    }
  }
  return box;
}

// The letter that a text plainly names. Only choices have forms in capitals.
std::optional<char> letter_of(std::string_view text) {
  const std::string form = canonical_answer(AnswerKind::kChoice, text);
  if (form.size() == 1 && form[0] >= 'A' && form[0] <= 'Z') return form[0];
  return std::nullopt;
}

// Several sources may name a letter; they must agree.
class Letters {
 public:
  void add(std::optional<char> letter) {
    if (!letter) return;
    differ_ |= letter_ && *letter_ != *letter;
    letter_ = letter;
  }
  [[nodiscard]] bool any() const { return letter_.has_value(); }
  [[nodiscard]] Extract extract() const { return differ_ || !letter_ ? Extract{} : marked({&*letter_, 1}); }

 private:
  std::optional<char> letter_;
  bool differ_ = false;
};

Extract choice(const Outline& outline) {
  static const RE2 kStatement(
      "(?:(?i:\\b(?:answer|choice|option)(?: is| would be| must be):? *|(?:richtige )?antwort (?:ist|lautet):? *|"
      "réponse (?:correcte )?est :?(?:la )?|respuesta (?:correcta )?es:? (?:la )?|resposta (?:correta )?é:? (?:a )?|risposta (?:corretta "
      ")?è:? (?:la )?|"
      "правильный ответ *[-—:–]* *)|答案(?:是|为|為|選|选)[:：]? *|(?:故|应|應|所以)(?:选|選)(?:择|擇)?[:：]? *|正解は *|答えは *|정답은 *)"
      "(?i:option |choice |选项|選項|選択肢)?[*_`\"'“「(\\[（$]*(?:\\\\(?:boxed|text|textbf|mathrm)\\{)*([A-Z])"
      "(?:[)\\].*_}]* *(?:or|and|oder|und|ou|et|/|&|,) *[(*_\\[]*([A-Z]))?(?:[^A-Za-z0-9'’]|$)");
  Letters letters;
  for (const std::string_view answer : outline.answers) letters.add(letter_of(answer));
  re2::StringPiece rest = piece(outline.text);
  std::string letter;
  std::string another;
  while (RE2::FindAndConsume(&rest, kStatement, &letter, &another)) {
    letters.add(letter[0]);
    if (!another.empty()) letters.add(another[0]);
  }
  if (!letters.any()) {
    if (const auto box = last_box(outline.text)) letters.add(letter_of(*box));
  }
  if (!letters.any()) letters.add(letter_of(outline.text));
  if (!letters.any()) {
    letters.add(letter_of(outline.first_line));
    letters.add(letter_of(outline.last_line));
  }
  return letters.extract();
}

Extract code(const Outline& outline) {
  if (outline.block) return marked(*outline.block);
  if (outline.block_open) return {};
  return unmarked(outline.text);
}

Extract math(const Outline& outline) {
  if (const auto box = last_box(outline.text)) return marked(*box);
  if (!outline.answers.empty()) return marked(outline.answers.back());
  return unmarked(without_emphasis(outline.last_line));
}

Extract short_answer(const Outline& outline) {
  if (!outline.answers.empty()) return marked(outline.answers.back());
  return unmarked(without_emphasis(outline.text));
}

}  // namespace

std::optional<std::string_view> answer_line(std::string_view line) {
  static const RE2 kHeading("(?i)#{1,6} +[*_]*(?:the +)?(?:final +)?answer[*_]*");
  static const RE2 kSentence("(?i)[*_]*(?:(?:so|thus|therefore|hence),? +)?(?:(?:the|my|final|correct|best|right) +)*answer +is\\b:? *");
  static const RE2 kLabel(
      "(?i)(?:(?:the|my|final|correct|best|right|short) +)*(?:answer|(?:endgültige |richtige )?antwort|réponse(?: finale)?|respuesta(?: "
      "final)?|"
      "resposta(?: final)?|risposta(?: finale)?|antwoord|odpowiedź|svar|cevap|(?:окончательный "
      ")?ответ|відповідь|最终答案|答案|最終的な答え|答え|回答|"
      "解答|정답|답|الجواب|الإجابة|उत्तर)");
  if (line.size() > kAnswerLineBytesMax) return std::nullopt;
  if (line.starts_with('#') && RE2::FullMatch(piece(line), kHeading)) return std::string_view();
  if (line.substr(0, kLabelBytesMax).find("nswer is") != std::string_view::npos) {
    re2::StringPiece rest = piece(line);
    if (RE2::Consume(&rest, kSentence)) return without_emphasis({rest.data(), rest.size()});
  }
  const std::optional<Labelled> parts = split_label(line);
  if (!parts) return std::nullopt;

  std::string_view label = parts->label;
  if (label.starts_with('#')) label.remove_prefix(std::min(label.find_first_not_of('#'), label.size()));
  if (label.starts_with("- ") || label.starts_with("* ") || label.starts_with("+ ")) label.remove_prefix(2);
  label = trimmed(label);
  const std::string_view before = label.substr(0, label.find_first_not_of(kMarks));
  label.remove_prefix(before.size());
  const std::string_view word = label.substr(0, label.find_last_not_of(kBehindLabel) + 1);
  if (word.empty() || !RE2::FullMatch(piece(word), kLabel)) return std::nullopt;

  // Marks around the label alone ("**Answer:** x", "**Answer**: x") go with it; else they belong to the value ("Answer:**x**"), or
  // stand around both ("**Answer: x**").
  const bool closed_within = label.find_first_of(kMarks, word.size()) != std::string_view::npos;
  std::string_view stated = parts->value;
  if (!before.empty() && !closed_within) {
    if (stated.starts_with(before)) {
      stated.remove_prefix(before.size());
    } else if (stated.ends_with(before)) {
      stated.remove_suffix(before.size());
    }
  }
  return without_emphasis(stated);
}

Extract extract_answer(Task task, const Outline& outline) {
  switch (task) {
    case Task::kCode:
    case Task::kCompetitionCode: return code(outline);
    case Task::kChoice: return choice(outline);
    case Task::kShortAnswer: return short_answer(outline);
    case Task::kMath: return math(outline);
    case Task::kFree: break;
  }
  return unmarked(outline.text);
}

}  // namespace margin::elicit
