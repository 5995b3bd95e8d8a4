#include "elicit/confidence.h"

#include <gtest/gtest.h>

#include <string>

namespace margin::elicit {
namespace {

using Kind = Stated::Kind;

TEST(ConfidenceValue, EveryIntegerUpToAHundredIsAPercentage) {
  for (int n = 0; n <= 100; ++n) {
    for (const std::string& text :
         {std::to_string(n), std::to_string(n) + "%", std::to_string(n) + "/100", std::to_string(n) + " percent"}) {
      const Stated stated = read_confidence_value(text);
      EXPECT_EQ(stated.kind, Kind::kValue) << text;
      EXPECT_EQ(stated.value, n / 100.0) << text;
    }
  }
}

TEST(ConfidenceValue, ADecimalUpToOneIsAFraction) {
  for (int n = 0; n <= 100; ++n) {
    const std::string text = n == 100 ? "1.00" : "0." + std::string(n < 10 ? "0" : "") + std::to_string(n);
    EXPECT_EQ(read_confidence_value(text).value, n / 100.0) << text;
  }
  EXPECT_EQ(read_confidence_value("1.5").value, 0.015);
}

TEST(ConfidenceValue, OutsideTheScaleIsOutOfRange) {
  for (const char* text : {"101", "-1", "100.01", "100.1%", "-0.5", "999999999"}) {
    EXPECT_EQ(read_confidence_value(text).kind, Kind::kOutOfRange) << text;
  }
}

TEST(ConfidenceValue, AnythingElseIsMalformed) {
  for (const char* text :
       {"",      "%",    "high", "N",   "+85",       "85 90",         "85-90", "~85", ">85", "8e1", "1,000", "85%%", "85 of 100",
        "85/10", "0x55", "NaN",  "inf", "85 (sure)", "1234567890123", "８５",  "−5",  ".",   "-",   "85..",  "1.2.3"}) {
    EXPECT_EQ(read_confidence_value(text).kind, Kind::kMalformed) << text;
  }
}

TEST(ConfidenceLine, IsTheLabelAndANumber) {
  for (const char* line :
       {"Confidence: 85", "confidence : 85%", "**Confidence:** 85", "**Confidence**: 85", "**Confidence: 85%**", "_Confidence: 0.85_",
        "### Confidence: 85", "- Confidence: 85.", "Confidence：85％。", "My confidence: 85", "Confidence score: 85",
        "Confidence (0-100): 85", "`Confidence: 85`", "Confidence: $85\\%$", "{\"confidence\": 85}", "置信度：85", "Уверенность: 85%"}) {
    const auto stated = read_confidence_line(line);
    ASSERT_TRUE(stated) << line;
    EXPECT_EQ(stated->kind, Kind::kValue) << line;
    EXPECT_EQ(stated->value, 0.85) << line;
  }
}

TEST(ConfidenceLine, IsNothingElse) {
  for (const char* line : {"85", "85%", "Confident: 85", "Self-confidence: 85", "Confidence interval: 85%", "Confidence 85",
                           "Confidence is 85%", "The confidence: 85", "> Confidence: 85", "\"Confidence: 85\"", "| Confidence: 85 |",
                           "# comment about Confidence: 85", "{\"confidence\": {\"value\": 85}}", "Overconfidence: 85"}) {
    EXPECT_FALSE(read_confidence_line(line)) << line;
  }
  EXPECT_FALSE(read_confidence_line("Confidence: " + std::string(200, ' ') + "of one's own is 85" + std::string(200, '.')));
}

TEST(ConfidenceLine, ANamedScaleIsTheScale) {
  EXPECT_EQ(read_confidence_line("Confidence (0-1): 1")->value, 1.0);
  EXPECT_EQ(read_confidence_line("Confidence (0-1): 85")->kind, Kind::kOutOfRange);
  EXPECT_EQ(read_confidence_line("Confidence (0-1): 85%")->kind, Kind::kMalformed);
  EXPECT_EQ(read_confidence_line("Confidence (%): 1.0")->value, 0.01);
}

}  // namespace
}  // namespace margin::elicit
