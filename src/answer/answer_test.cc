// Answer equivalence: the examples of docs/voting.md, hostile input, and that different values never meet.
#include "margin/answer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "margin/random.h"

namespace margin {
namespace {

using namespace std::string_literals;

std::string math(std::string_view answer) { return canonical_answer(AnswerKind::kMath, answer); }
std::string choice(std::string_view answer) { return canonical_answer(AnswerKind::kChoice, answer); }
std::string text(std::string_view answer) { return canonical_answer(AnswerKind::kText, answer); }
std::string code(std::string_view answer) { return canonical_answer(AnswerKind::kCode, answer); }

TEST(AnswerKind, NamesAreReadBack) {
  for (const AnswerKind kind : {AnswerKind::kExact, AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kMath, AnswerKind::kText}) {
    const auto parsed = parse_answer_kind(name_of(kind));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_EQ(name_of(AnswerKind::kMath), "math");
}

TEST(AnswerKind, UnknownNameIsRefused) {
  const auto parsed = parse_answer_kind("maths");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(parsed.error().message.find("maths"), std::string::npos);
}

TEST(ExactAnswer, IsItsBytes) {
  const std::string bytes = " a\0\xff "s;
  EXPECT_EQ(canonical_answer(AnswerKind::kExact, bytes), bytes);
}

TEST(CodeAnswer, LosesAllWhitespace) {
  EXPECT_EQ(code("def f(x):\n\treturn x + 1\r\n"), "deff(x):returnx+1");
  EXPECT_EQ(code("a\xc2\xa0\xe2\x80\x83\xe3\x80\x80\xe2\x80\xa8\xe1\x9a\x80\xc2\x85z"), "az");
  EXPECT_EQ(code(" \n"), "");
}

TEST(CodeAnswer, KeepsEverythingElse) {
  EXPECT_EQ(code("\xe2\x80\x8b\xff\xc2"), "\xe2\x80\x8b\xff\xc2");  // zero-width space is no whitespace; neither are broken bytes
  EXPECT_NE(code("x=1"), code("X=1"));
}

TEST(TextAnswer, IgnoresCaseArticlesPunctuationAndSpacing) {
  EXPECT_EQ(text("The  Eiffel Tower."), "eiffel tower");
  EXPECT_EQ(text("an   \"Apple\" a day"), "apple day");
  EXPECT_EQ(text("Theatre, another"), "theatre another");
  EXPECT_EQ(text("\xe2\x80\x9cIt\xe2\x80\x99s\xe2\x80\x9d \xe2\x80\x94 rock\xc2\xa0n roll"), "its rock n roll");
}

TEST(TextAnswer, IsExactWhereNothingIsLeft) {
  EXPECT_EQ(text("The"), "The");
  EXPECT_EQ(text("?!"), "?!");
  EXPECT_NE(text("?"), text("!"));
  EXPECT_EQ(text(""), "");
}

TEST(TextAnswer, KeepsBytesBeyondAscii) {
  EXPECT_EQ(text("\xc3\x89t\xc3\xa9"), "\xc3\x89t\xc3\xa9");
  EXPECT_EQ(text("A\xff\xe2\x80"), "a\xff\xe2\x80");
}

TEST(ChoiceAnswer, LetterIsFound) {
  for (const char* answer : {"B",
                             "b",
                             " B ",
                             "(B)",
                             "[b]",
                             "B.",
                             "B)",
                             "B:",
                             "(B).",
                             "**B**",
                             "\"B\"",
                             "`B`",
                             "$B$",
                             "\\boxed{B}",
                             "\\boxed{\\text{(B)}}",
                             "Answer: B",
                             "answer b",
                             "**Answer:** B",
                             "The answer is (B).",
                             "The correct answer is: \\boxed{B}.",
                             "Final Answer: B",
                             "So the best choice would be B!",
                             "Option B",
                             "My answer: [B]",
                             "B: because it rains",
                             "B) Paris",
                             "(B) Paris",
                             "(b) Paris",
                             "B. Paris",
                             "B. 42",
                             "Answer: B. Paris",
                             "The answer is (B) because A is wrong",
                             "Option B: Paris"}) {
    EXPECT_EQ(choice(answer), "B") << answer;
  }
  EXPECT_EQ(choice("A"), "A");
  EXPECT_EQ(choice("a"), "A");
  EXPECT_EQ(choice("the answer is a"), "A");
}

TEST(ChoiceAnswer, NoLetterIsGuessed) {
  for (const char* answer : {"A dog",
                             "a dog",
                             "I think so",
                             "Because",
                             "AB",
                             "A or B",
                             "A, B",
                             "A/B",
                             "(A) and (B)",
                             "A) or B)",
                             "A: B",
                             "A) cats B) dogs",
                             "A: 1, B: 2",
                             "E. coli",
                             "J. K. Rowling",
                             "U.S. troops",
                             "A.M.",
                             "The answer is not B",
                             "Answer: I think B",
                             "The answer is a dog",
                             "B because",
                             "is B",
                             "C++",
                             "A+",
                             "B2",
                             "-B",
                             "",
                             "?",
                             "Paris",
                             "The answer",
                             "Option",
                             "answer is A and C"}) {
    EXPECT_EQ(choice(answer), text(answer)) << answer;
  }
}

TEST(MathAnswer, OneValueHasOneForm) {
  const std::vector<std::vector<const char*>> values = {
      {"0.5",
       ".5",
       "0.50",
       "00.5",
       "1/2",
       "2/4",
       "\\frac{1}{2}",
       "\\dfrac12",
       "\\tfrac{ 1 }{ 2 }",
       "50%",
       "50 \\%",
       "50 percent",
       "$\\frac{1}{2}$",
       "\\boxed{1/2}",
       "5e-1",
       "5\\times 10^{-1}",
       "+0.5",
       "\\frac{-1}{-2}",
       "\\frac{0.25}{0.5}",
       "\\( \\frac{1}{2} \\)",
       "1 / 2",
       "**0.5**",
       "The answer is \\boxed{\\frac{1}{2}}.",
       "0.5."},
      {"1234", "1,234", "1,234.0", "$1,234$", "\\$1{,}234.00", "1,\\!234", "1.234e3", "01234", "\\boxed{\\boxed{1234}}", "1234/1",
       "2468/2"},
      {"-3",
       "\xe2\x88\x92"
       "3",
       "- 3", "-3.0", "-6/2", "-\\frac{6}{2}", "\\frac{-6}{2}", "-300%"},
      {"1/3", "2/6", "\\frac{10}{30}", "0.1/0.3", "33.3/99.9", "\\frac{1}{3}"},
      {"1/6", "0.5/3", "5/30"},
      {"5/2", "2.5", "2 1/2", "2\\frac{1}{2}", "250%"},
      {"0", "-0", "0.0", "0/7", "0%", "+0", "0e99"},
      {"1000000", "10^6", "10^{6}", "1e6", "1E+6",
       "1\xc3\x97"
       "10^6",
       "1 \\cdot 10^{6}", "1,000,000"},
      {"5 cm", "5\\text{ cm}", "5.0 cm", "5~\\mathrm{cm}", "10/2 cm"},
      {"1e400", "10e399", "0.1e401"},
      {"(1,2)", "(1, 2)", "\\left( 1 , 2 \\right)"},
      {"x+1", "x + 1", "$x+1$", "\\boxed{x + 1}", "x\\,+\\,1."},
      {"x^{2}", "x ^ {2}"},
      {"\\text{Tuesday}", "Tuesday"},
      {"-7cm", "- 7cm"},
  };
  std::vector<std::string> forms;
  for (const auto& spellings : values) {
    forms.push_back(math(spellings[0]));
    for (const char* spelling : spellings) EXPECT_EQ(math(spelling), forms.back()) << spelling;
  }
  for (std::size_t i = 0; i < forms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(forms[i], forms[j]);
    EXPECT_EQ(math(forms[i]), forms[i]) << "a form is its own form";
  }
}

TEST(MathAnswer, FormsAreReadable) {
  EXPECT_EQ(math("\\frac{2}{4}"), "0.5");
  EXPECT_EQ(math("-5/30"), "-1/6");
  EXPECT_EQ(math("100/3"), "100/3");
  EXPECT_EQ(math("1.20e3"), "1200");
  EXPECT_EQ(math("1e400"), "1*10^400");
  EXPECT_EQ(math("0.5 kg"), "0.5 kg");
}

TEST(MathAnswer, DifferentAnswersStayApart) {
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"50", "50%"},
      {"1 2", "12"},
      {"1, 234", "1234"},
      {"(1,234)", "1234"},
      {"0,123", "123"},
      {"0.333...", "0.333"},
      {"1/3", "0.333"},
      {"1$2", "12"},
      {"1 .5", "1.5"},
      {"5 cm", "5 m"},
      {"5 cm", "5"},
      {"x", "X"},
      {"x^{10}", "x^10"},
      {"1e - 30", "1e-30"},
      {"1/0", "2/0"},
      {"1,2345", "12345"},
      {"2 3/2", "7/2"},
      {"\\boxed{1}\\boxed{2}", "2"},
      {"1234,567", "1234567"},
      {"--5", "5"},
      {"", "0"},
      {"...", ""},
      {"1..", "1"},
      {"\\{1,2\\}", "(1,2)"},
      {"1e9999999999999999", "1e9999999999999998"},
      {"\\boxed{5", "5"},
      {"2x", "2"},
      {"1/2/3", "1/6"},
      {"12 am", "12 pm"},
      {"~5", "5"},
      {"\\frac123", "3/2"},
      {"1.2.3", "1.23"},
      {"5 6/7/8", "5"},
      {"\\pm 5", "5"},
      {"5!", "5"},
  };
  for (const auto& [a, b] : pairs) EXPECT_NE(math(a), math(b)) << a << " | " << b;
}

// Every notation of p/q below that can say it exactly.
std::vector<std::string> notations(std::int64_t p, std::int64_t q, std::int64_t times) {
  const auto n = [](std::int64_t value) { return std::to_string(value); };
  std::vector<std::string> all = {n(p) + "/" + n(q),
                                  n(p * times) + " / " + n(q * times),
                                  "\\frac{" + n(p) + "}{" + n(q) + "}",
                                  "$\\dfrac{" + n(-p * times) + "}{" + n(-q * times) + "}$",
                                  "\\boxed{" + n(p * 100) + "/" + n(q) + "%}",
                                  n(p) + "e3/" + n(q * 1000)};
  if (p > q) all.push_back(n(p / q) + (p % q == 0 ? "" : " " + n(p % q) + "/" + n(q)));
  if (1'000'000 % q == 0) {
    const std::int64_t millionths = p * (1'000'000 / q);
    const std::string digits = std::to_string(millionths < 0 ? -millionths : millionths);
    const std::string padded = std::string(digits.size() < 7 ? 7 - digits.size() : 0, '0') + digits;
    const std::string sign = p < 0 ? "-" : "";
    all.push_back(sign + padded.substr(0, padded.size() - 6) + "." + padded.substr(padded.size() - 6));
    all.push_back(sign + digits + "e-6");
  }
  return all;
}

TEST(MathAnswer, RationalsMeetExactlyWhenEqual) {
  Random random(20240601);
  const auto draw = [&](std::int64_t bound) { return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound))); };
  for (int round = 0; round < 20'000; ++round) {
    const std::int64_t bound = round % 2 == 0 ? 30 : 1'000'000;
    const std::int64_t p1 = draw(2 * bound) - bound, q1 = 1 + draw(bound);
    const std::int64_t p2 = draw(2 * bound) - bound, q2 = 1 + draw(bound);
    const std::string form = math(notations(p1, q1, 1)[0]);
    for (const std::string& spelling : notations(p1, q1, 1 + draw(1000))) ASSERT_EQ(math(spelling), form) << spelling;
    for (const std::string& spelling : notations(p2, q2, 1 + draw(1000))) ASSERT_EQ(math(spelling) == form, p1 * q2 == p2 * q1) << spelling;
  }
}

TEST(MathAnswer, LongDecimalsAreExact) {
  const std::string digits(1000, '7');
  EXPECT_EQ(math(digits + "e-500"), math(digits.substr(0, 500) + "." + digits.substr(500)));
  EXPECT_NE(math(digits + "1"), math(digits + "2"));
  EXPECT_NE(math("1/" + digits + "1"), math("1/" + digits + "3"));
  // 2^-126, whose 126 decimals exceed any machine integer.
  EXPECT_EQ(math("1/85070591730234615865843651857942052864"),
            math("11754943508222875079687365372222456778186655567720875215087517062784172594547271728515625e-126"));
}

std::string repeat(std::string_view part, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += part;
  return all;
}

TEST(HostileAnswer, MegabytesAreBoundedAndSafe) {
  const std::size_t size = kAnswerBytesMax - 64;
  std::vector<std::string> answers;
  for (const char* part :
       {"(", "{", "}", "\\",   "\\frac{", "\\frac", "\\boxed{", "\\boxed", "\\text{", "**",         ".",   ",", "1,",        "1 ", "9",
        " ", "$", "e", "the ", "answer ", "A) ",    "\xe2",     "\xff",    "%",       "\\boxed{1}", "{,}", "-", "\\fbox{**", "1/", "\n"}) {
    answers.push_back(repeat(part, size));
  }
  answers.push_back(repeat("\\boxed{", size / 2) + "1" + std::string(size / 2 / 7 + 1, '}'));
  answers.push_back("0." + std::string(size, '0') + "1");
  answers.push_back("1e" + std::string(size, '9'));
  answers.push_back("\\frac{" + std::string(size / 2 - 10, '3') + "}{" + std::string(size / 2 - 10, '7') + "}");
  answers.push_back(std::string(size, '\0'));
  for (const std::string& answer : answers) {
    for (const AnswerKind kind : {AnswerKind::kExact, AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kMath, AnswerKind::kText}) {
      const std::string form = canonical_answer(kind, answer);
      EXPECT_LE(form.size(), 2 * answer.size() + 64) << answer.substr(0, 16);
      EXPECT_EQ(form, canonical_answer(kind, answer));
    }
  }
}

TEST(HostileAnswer, DeepBoxesAreOpened) {
  const std::size_t depth = 100'000;
  EXPECT_EQ(math(repeat("\\boxed{", 7 * depth) + "1/2" + std::string(depth, '}')), "0.5");
}

TEST(HostileAnswer, RandomBytesGiveTheSameFormTwice) {
  Random random(7);
  const std::string alphabet = "\\{}()$.,-+/%^*e019 ABab\xe2\x80\x88\x92\xff"s + "\0\n"s;
  const std::vector<std::string> tokens = {"\\frac", "\\boxed", "\\text", "answer", "is", "10^", "\\!", "{,}", "the"};
  for (int round = 0; round < 20'000; ++round) {
    std::string answer;
    for (std::uint64_t length = random.below(24); length > 0; --length) {
      if (random.chance(0.2)) answer += tokens[random.below(tokens.size())];
      answer += alphabet[random.below(alphabet.size())];
    }
    for (const AnswerKind kind : {AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kText}) {
      const std::string form = canonical_answer(kind, answer);
      ASSERT_LE(form.size(), answer.size());
      ASSERT_EQ(canonical_answer(kind, std::string(answer)), form);
    }
    ASSERT_EQ(math(math(answer)), math(answer)) << answer;
  }
}

TEST(LongAnswer, EqualsOnlyItself) {
  const std::string limit(kAnswerBytesMax, 'x');
  const std::string one(kAnswerBytesMax + 1, 'x');
  std::string other = one;
  other.back() = 'y';
  for (const AnswerKind kind : {AnswerKind::kExact, AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kMath, AnswerKind::kText}) {
    EXPECT_EQ(canonical_answer(kind, limit), limit);
    EXPECT_EQ(canonical_answer(kind, one), canonical_answer(kind, std::string(one)));
    EXPECT_NE(canonical_answer(kind, one), canonical_answer(kind, other));
    EXPECT_NE(canonical_answer(kind, one), canonical_answer(kind, one + 'x'));
    EXPECT_GT(canonical_answer(kind, one).size(), kAnswerBytesMax);
    EXPECT_LT(canonical_answer(kind, std::string(10 * kAnswerBytesMax, 'x')).size(), kAnswerBytesMax + 100);
  }
}

TEST(LongAnswer, NoShortAnswerHasItsForm) {
  // Commas make a mathematical form longer than its answer; beginning with NUL is what only the form of a long answer does.
  const std::string grown = math("\0"s + std::string(kAnswerBytesMax - 1, ','));
  EXPECT_GT(grown.size(), kAnswerBytesMax);
  EXPECT_NE(grown[0], '\0');
  EXPECT_EQ(math(std::string(kAnswerBytesMax + 1, ','))[0], '\0');
}

TEST(AnswerGroups, AreNumberedInOrderOfAppearance) {
  const std::vector<std::optional<std::string_view>> answers = {"0.5", std::nullopt, "2", "1/2", "2.0", "x"};
  const AnswerGroups groups = group_answers(AnswerKind::kMath, answers);
  EXPECT_EQ(groups.group, (std::vector<std::uint32_t>{0, kNoAnswer, 1, 0, 1, 2}));
  EXPECT_EQ(groups.canonical, (std::vector<std::string>{"0.5", "2", "x"}));
}

TEST(AnswerGroups, EmptyTaskHasNone) {
  const AnswerGroups groups = group_answers(AnswerKind::kExact, {});
  EXPECT_TRUE(groups.group.empty());
  EXPECT_TRUE(groups.canonical.empty());
}

TEST(AnswerGroups, EmptyAnswerIsAnAnswer) {
  const std::vector<std::optional<std::string_view>> answers = {"", std::nullopt, ""};
  EXPECT_EQ(group_answers(AnswerKind::kExact, answers).group, (std::vector<std::uint32_t>{0, kNoAnswer, 0}));
}

TEST(AnswerGroups, ManyAnswersAreGroupedLikeOneByOne) {
  std::vector<std::string> texts;
  for (int i = 0; i < 50'000; ++i) texts.push_back(std::to_string(i % 10'007));
  const std::vector<std::optional<std::string_view>> answers(texts.begin(), texts.end());
  const AnswerGroups groups = group_answers(AnswerKind::kExact, answers);
  ASSERT_EQ(groups.canonical.size(), 10'007U);
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(groups.canonical[groups.group[i]], texts[i]);
}

}  // namespace
}  // namespace margin
