#include "elicit/lines.h"

#include <gtest/gtest.h>

#include <string>

namespace margin::elicit {
namespace {

// One letter per line: t(ext), q(uote), i(ndented), f(ence), c(ode), r(easoning).
std::string places(std::string_view reply) {
  std::string out;
  std::string joined;
  LineReader lines(reply);
  while (const auto line = lines.next()) {
    out += "tqifcr"[static_cast<std::size_t>(line->place)];
    joined += line->text;
  }
  EXPECT_EQ(joined, reply);
  return out;
}

TEST(LineReader, KnowsFences) {
  EXPECT_EQ(places("a\n```\nb\n```\nc"), "tfcft");
  EXPECT_EQ(places("~~~\n```\n~~~\nc"), "fcft");
  EXPECT_EQ(places("````\n```\n````\nc"), "fcft");
  EXPECT_EQ(places("```py\n```py\n```\nc"), "fcft");  // a fence with an info string does not close
  EXPECT_EQ(places("``\n`` ` ``\n``` a `b` ```\n"), "ttt");
  EXPECT_EQ(places("   ```\n   b\n   ```   \nc"), "fcft");
}

TEST(LineReader, AnUnclosedFenceLastsToTheEnd) {
  EXPECT_EQ(places("```\na\n> b\n<think>\n"), "fccc");
  LineReader lines("```\na");
  while (lines.next()) {
  }
  EXPECT_TRUE(lines.fence_open());
}

TEST(LineReader, KnowsQuotationsAndIndentedCode) {
  EXPECT_EQ(places("> a\n  >b\n   c\n    d\n\te\n    \n"), "qqtiit");
  EXPECT_EQ(places("> ```\na\n"), "qt");  // a fence inside a quotation is part of it
}

TEST(LineReader, KnowsReasoning) {
  EXPECT_EQ(places("<think>a\nb</think>c\n"), "rt");
  EXPECT_EQ(places("<think>a\n```\nb</think>\nc"), "rtt");
  EXPECT_EQ(places("<thinking>a</think>\n</thinking>\n"), "rt");
  EXPECT_EQ(places("a <think>b</think>\n"), "t");
  EXPECT_EQ(places("<think>a\nb"), "r");
}

TEST(LineReader, ReasoningMayHaveBeenOpenedInThePrompt) {
  EXPECT_EQ(places("a\nb\n</think>\nc"), "rtt");
  EXPECT_EQ(places("a\n```\n</think>\n```\nc"), "tfcft");
}

TEST(LineReader, OfNothingIsNothing) { EXPECT_EQ(places(""), ""); }

}  // namespace
}  // namespace margin::elicit
