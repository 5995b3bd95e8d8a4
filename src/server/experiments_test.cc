// Experiments with a program that misbehaves in place of `margin replay`: its time, its files and its processes are bounded.
#include "server/experiments.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace margin::server {
namespace {

class ExperimentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "margin-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A shell script stands for the program.
  ExperimentLimits limits(const std::string& script) {
    const auto program = folder_ / "program";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    chmod(program.c_str(), 0700);
    ExperimentLimits limits;
    limits.program = program.string();
    limits.wall = std::chrono::seconds(60);
    return limits;
  }
  static ExperimentRequest request(std::uint64_t number) {
    return {.id = {1, number}, .tenant = "t", .name = "n", .log = "a log\n", .now_ms = 7};
  }
  static Experiment ended(const Experiments& experiments, std::uint64_t number = 1) {
    for (;;) {
      const auto found = experiments.find({1, number}, "t");
      if (!found || found->status != Experiment::Status::kRunning) return found.value_or(Experiment{});
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  std::filesystem::path folder_;
};

TEST_F(ExperimentsTest, TheReportOfTheProgramIsKept) {
  Experiments experiments(
      limits("mkdir report; cat log.jsonl > report/report.html; echo \"$@\" >> report/report.html; ls /proc/self/fd | wc -l >> "
             "report/report.html"));
  ASSERT_TRUE(experiments.start(request(1)).ok());
  const Experiment done = ended(experiments);
  EXPECT_EQ(done.status, Experiment::Status::kDone) << done.message;
  EXPECT_TRUE(done.report.starts_with("a log\nreplay log.jsonl --input jsonl")) << done.report;
  // Nothing of the server is open in the child: its three streams, and what ls itself opens.
  EXPECT_TRUE(done.report.ends_with("\n4\n")) << done.report;
  EXPECT_EQ(experiments.list("t").size(), 1U);
  EXPECT_TRUE(experiments.list("t").front().report.empty());
  EXPECT_TRUE(experiments.list("other").empty());
  EXPECT_FALSE(experiments.find({1, 1}, "other").has_value());
}

TEST_F(ExperimentsTest, WhatTakesTooLongIsEnded) {
  ExperimentLimits bounds = limits("sleep 600");
  bounds.wall = std::chrono::seconds(0);
  Experiments experiments(bounds);
  ASSERT_TRUE(experiments.start(request(1)).ok());
  EXPECT_NE(ended(experiments).message.find("longer than 0 s"), std::string::npos);
}

TEST_F(ExperimentsTest, ProcessorTimeIsBounded) {
  ExperimentLimits bounds = limits("while true; do true; done");
  bounds.cpu = std::chrono::seconds(1);
  Experiments experiments(bounds);
  ASSERT_TRUE(experiments.start(request(1)).ok());
  EXPECT_NE(ended(experiments).message.find("processor time"), std::string::npos);
}

TEST_F(ExperimentsTest, AReportThatGrowsTooLargeIsCut) {
  ExperimentLimits bounds = limits("mkdir report; exec head -c 1000000 /dev/zero > report/report.html");
  bounds.report_bytes_max = 1000;
  Experiments experiments(bounds);
  ASSERT_TRUE(experiments.start(request(1)).ok());
  EXPECT_NE(ended(experiments).message.find("too large"), std::string::npos);
}

TEST_F(ExperimentsTest, WhyItFailedIsWhatTheProgramSaid) {
  Experiments experiments(limits("echo 'log.jsonl:3: bad row' >&2; exit 2"));
  ASSERT_TRUE(experiments.start(request(1)).ok());
  EXPECT_EQ(ended(experiments).message, "log.jsonl:3: bad row\n");
}

TEST_F(ExperimentsTest, OneAtATimeAndTheOldestMakeRoom) {
  Experiments slow(limits("sleep 600"));
  ASSERT_TRUE(slow.start(request(1)).ok());
  EXPECT_EQ(slow.start(request(2)).error().code, ErrorCode::kConflict);

  Experiments quick(limits("exit 1"));
  for (std::uint64_t number = 1; number <= 7; ++number) {
    ASSERT_TRUE(quick.start(request(number)).ok());
    ended(quick, number);
  }
  EXPECT_EQ(quick.list("t").size(), quick.limits().kept);
  EXPECT_EQ(quick.list("t").front().id, (Uuid{1, 7}));
}

TEST_F(ExperimentsTest, NamesOfMethodsAreNoFlags) {
  Experiments experiments(limits("exit 0"));
  ExperimentRequest bad = request(1);
  bad.methods = "raw --report /etc";
  EXPECT_EQ(experiments.start(bad).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace margin::server
