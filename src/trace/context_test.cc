#include "trace/context.h"

#include <gtest/gtest.h>

namespace margin::trace {
namespace {

// The example of the W3C recommendation.
constexpr std::string_view kExample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, IsReadAndWrittenAsTheStandardHasIt) {
  const auto context = parse_traceparent(kExample, "congo=t61rcWkgMzE");
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace.text(), "4bf92f35-77b3-4da6-a3ce-929d0e0e4736");
  EXPECT_EQ(context->span, 0x00f067aa0ba902b7U);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->state, "congo=t61rcWkgMzE");
  EXPECT_EQ(traceparent(*context), kExample);
}

TEST(TraceContext, OnlyTheFirstFlagIsKnown) {
  std::string text(kExample);
  text.replace(53, 2, "02");
  EXPECT_FALSE(parse_traceparent(text)->sampled);
  text.replace(53, 2, "ff");
  EXPECT_TRUE(parse_traceparent(text)->sampled);
  EXPECT_EQ(traceparent(*parse_traceparent(text)), kExample) << "unknown flags are not passed on";
}

TEST(TraceContext, ALaterVersionIsReadAsFarAsItAgrees) {
  std::string text(kExample);
  text.replace(0, 2, "cc");
  EXPECT_TRUE(parse_traceparent(text));
  EXPECT_TRUE(parse_traceparent(text + "-what the future will bring"));
  EXPECT_FALSE(parse_traceparent(text + "what"));
  EXPECT_FALSE(parse_traceparent(std::string(kExample) + "-more")) << "version 00 has no more";
}

TEST(TraceContext, WhatIsNotOfTheFormBeginsATrace) {
  for (const std::string_view text :
       {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x"}) {
    EXPECT_FALSE(parse_traceparent(text)) << text;
  }
}

TEST(TraceContext, AStateThatNoHeaderMayHoldIsDropped) {
  EXPECT_EQ(parse_traceparent(kExample, "a=1\r\nEvil: 1")->state, "");
  EXPECT_EQ(parse_traceparent(kExample, std::string(513, 'a'))->state, "");
  EXPECT_EQ(parse_traceparent(kExample, std::string(512, 'a'))->state.size(), 512U);
}

}  // namespace
}  // namespace margin::trace
