#include "dataset/paper_cohort.h"

#include <array>

namespace margin::dataset {
namespace {

using enum Profile;

constexpr std::array<std::string_view, 9> kCloudModels = {"Qwen3-Coder-480B-A35B", "Qwen3-32B",
                                                          "Qwen2.5-32B-Instruct",  "Qwen2.5-14B-Instruct-1M",
                                                          "DeepSeek-V3.2",         "DeepSeek-R1-Distill-Qwen-32B",
                                                          "gpt-oss-120b",          "MiniMax-M2.5",
                                                          "GLM-4.7-Flash"};

constexpr std::array<std::string_view, 9> kLocalModels = {"qwen2.5:72b", "llama3.1:70b",     "qwen2.5-coder:32b",
                                                          "qwen2.5:14b", "phi4:14b",         "deepseek-coder-v2",
                                                          "llama3.1:8b", "qwen2.5-coder:7b", "mistral:7b"};

// Per model, in the order of the names: accuracy, profile, usable, informative.
using Models = std::array<PaperModel, 9>;

constexpr Models kHumanEval = {{{0.9, kHigh, 0.99, 0.15},
                                {0.945, kHigh, 0.99, 0.25},
                                {0.84, kMedium, 0.99, 0.1},
                                {0.81, kMedium, 0.99, 0.1},
                                {0.9, kMedium, 0.99, 0.2},
                                {0.87, kMedium, 0.99, 0.3},
                                {0.9, kMedium, 0.99, 0.25},
                                {0.88, kHigh, 0.99, 0.25},
                                {0.82, kHigh, 0.99, 0.2}}};

constexpr Models kMbpp = {{{0.9, kHigh, 0.99, 0.15},
                           {0.89, kHigh, 0.99, 0.25},
                           {0.83, kMedium, 0.99, 0.1},
                           {0.8, kMedium, 0.99, 0.1},
                           {0.9, kMedium, 0.99, 0.2},
                           {0.85, kMedium, 0.99, 0.3},
                           {0.937, kMedium, 0.99, 0.25},
                           {0.88, kHigh, 0.99, 0.25},
                           {0.8, kHigh, 0.99, 0.2}}};

constexpr Models kLocal = {{{0.83, kHigh, 0.98, 0.1},
                            {0.78, kMedium, 0.98, 0.1},
                            {0.9, kHigh, 0.98, 0.15},
                            {0.84, kMedium, 0.98, 0.1},
                            {0.92, kHigh, 0.98, 0.1},
                            {0.84, kMedium, 0.98, 0.1},
                            {0.66, kMedium, 0.98, 0.05},
                            {0.84, kHigh, 0.98, 0.1},
                            {0.42, kHigh, 0.98, 0.05}}};

constexpr Models kBigCodeBench = {{{0.324, kMedium, 0.94, 0.1},
                                   {0.28, kHigh, 0.94, 0.1},
                                   {0.26, kMedium, 0.94, 0.05},
                                   {0.21, kMedium, 0.94, 0.05},
                                   {0.3, kMedium, 0.94, 0.1},
                                   {0.25, kMedium, 0.94, 0.15},
                                   {0.28, kMedium, 0.94, 0.1},
                                   {0.25, kHigh, 0.94, 0.1},
                                   {0.17, kHigh, 0.94, 0.05}}};

constexpr Models kCodeContests = {{{0.28, kMedium, 1, 0.15},
                                   {0.76, kBroad, 0.38, 0.4},
                                   {0.18, kMedium, 1, 0.05},
                                   {0.14, kMedium, 1, 0.05},
                                   {0.4, kMedium, 1, 0.2},
                                   {0.72, kBroad, 0.35, 0.3},
                                   {0.82, kWide, 0.4, 0.35},
                                   {0.74, kBroad, 0.35, 0.35},
                                   {0.16, kHigh, 1, 0.05}}};

constexpr Models kLiveCodeBench = {{{0.64, kMedium, 0.97, 0.25},
                                    {0.88, kWide, 0.5, 0.4},
                                    {0.52, kMedium, 0.97, 0.15},
                                    {0.48, kMedium, 0.97, 0.15},
                                    {0.77, kMedium, 0.97, 0.3},
                                    {0.7, kBroad, 0.5, 0.4},
                                    {0.93, kWide, 0.6, 0.4},
                                    {0.88, kWide, 0.5, 0.4},
                                    {0.56, kHigh, 0.65, 0.15}}};

constexpr Models kStem = {{{0.88, kWide, 0.98, 0.35},
                           {0.89, kHigh, 0.98, 0.35},
                           {0.86, kMedium, 0.98, 0.25},
                           {0.82, kMedium, 0.98, 0.25},
                           {0.9, kHigh, 0.98, 0.35},
                           {0.84, kMedium, 0.98, 0.35},
                           {0.9, kHigh, 0.98, 0.4},
                           {0.88, kHigh, 0.98, 0.35},
                           {0.82, kWide, 0.98, 0.3}}};

constexpr Models kHumanities = {{{0.76, kWide, 0.98, 0.3},
                                 {0.75, kHigh, 0.98, 0.3},
                                 {0.72, kMedium, 0.98, 0.2},
                                 {0.68, kMedium, 0.98, 0.2},
                                 {0.8, kHigh, 0.98, 0.3},
                                 {0.68, kMedium, 0.98, 0.3},
                                 {0.75, kHigh, 0.98, 0.35},
                                 {0.74, kMedium, 0.98, 0.3},
                                 {0.64, kWide, 0.98, 0.25}}};

constexpr Models kGsm = {{{0.91, kHigh, 0.97, 0.2},
                          {0.92, kHigh, 0.97, 0.2},
                          {0.86, kHigh, 0.97, 0.1},
                          {0.83, kMedium, 0.97, 0.1},
                          {0.92, kHigh, 0.97, 0.2},
                          {0.88, kHigh, 0.97, 0.2},
                          {0.93, kHigh, 0.97, 0.2},
                          {0.91, kHigh, 0.97, 0.2},
                          {0.84, kHigh, 0.97, 0.15}}};

constexpr Models kCompetition = {{{0.72, kHigh, 0.93, 0.3},
                                  {0.78, kHigh, 0.93, 0.35},
                                  {0.66, kHigh, 0.93, 0.2},
                                  {0.6, kMedium, 0.93, 0.2},
                                  {0.8, kHigh, 0.93, 0.3},
                                  {0.72, kHigh, 0.93, 0.35},
                                  {0.78, kHigh, 0.93, 0.35},
                                  {0.74, kHigh, 0.93, 0.3},
                                  {0.56, kHigh, 0.93, 0.2}}};

constexpr Models kTrivia = {{{0.72, kWide, 0.98, 0.45},
                             {0.66, kWide, 0.98, 0.4},
                             {0.63, kMedium, 0.98, 0.35},
                             {0.56, kMedium, 0.98, 0.3},
                             {0.78, kWide, 0.98, 0.45},
                             {0.6, kWide, 0.98, 0.45},
                             {0.68, kWide, 0.98, 0.5},
                             {0.68, kWide, 0.98, 0.45},
                             {0.58, kWide, 0.98, 0.4}}};

// HE and MBPP are the source of several pairs; they have the common difficulty and same_right of the pair in which all eighteen models
// take part.
constexpr std::array<PaperPhase, 13> kPhases = {{
    {.name = "HE", .problems = 164, .common_difficulty = 0.4, .same_right = 0.2, .cloud = kHumanEval, .local = kLocal},
    {.name = "MBPP",
     .problems = 257,
     .common_difficulty = 0.4,
     .same_right = 0.2,
     .cloud = kMbpp,
     .local = kLocal,
     .local_accuracy_factor = 0.95},
    {.name = "BCB", .problems = 148, .common_difficulty = 0.35, .same_right = 0.15, .cloud = kBigCodeBench},
    {.name = "CC", .problems = 165, .common_difficulty = 0.4, .same_right = 0.05, .cloud = kCodeContests},
    {.name = "LCB", .problems = 880, .common_difficulty = 0.4, .same_right = 0.05, .cloud = kLiveCodeBench, .dated = true},
    {.name = "HE+",
     .problems = 164,
     .common_difficulty = 0.4,
     .same_right = 0.2,
     .cloud = kHumanEval,
     .local = kLocal,
     .accuracy_deficit = 0.005},
    {.name = "MBPP+",
     .problems = 257,
     .common_difficulty = 0.4,
     .same_right = 0.2,
     .cloud = kMbpp,
     .local = kLocal,
     .local_accuracy_factor = 0.95,
     .accuracy_deficit = 0.07},
    {.name = "STEM", .problems = 189, .kind = AnswerKind::kChoice, .common_difficulty = 0.45, .distractors = 3, .cloud = kStem},
    {.name = "HUM", .problems = 200, .kind = AnswerKind::kChoice, .common_difficulty = 0.45, .distractors = 3, .cloud = kHumanities},
    {.name = "GSM", .problems = 200, .kind = AnswerKind::kExact, .common_difficulty = 0.45, .distractors = 6, .cloud = kGsm},
    {.name = "COMP", .problems = 196, .kind = AnswerKind::kExact, .common_difficulty = 0.45, .distractors = 6, .cloud = kCompetition},
    {.name = "TQ1", .problems = 200, .kind = AnswerKind::kExact, .common_difficulty = 0.45, .distractors = 6, .cloud = kTrivia},
    {.name = "TQ2",
     .problems = 200,
     .kind = AnswerKind::kExact,
     .common_difficulty = 0.45,
     .distractors = 6,
     .cloud = kTrivia,
     .accuracy_deficit = 0.005},
}};

constexpr std::array<PaperCondition, 11> kConditions = {{
    {"HE->BCB", "HE", "BCB"},
    {"HE->CC", "HE", "CC"},
    {"HE->LCB", "HE", "LCB"},
    {"HE->HE+", "HE", "HE+", true},
    {"MBPP->BCB", "MBPP", "BCB"},
    {"MBPP->CC", "MBPP", "CC"},
    {"MBPP->LCB", "MBPP", "LCB"},
    {"MBPP->MBPP+", "MBPP", "MBPP+", true},
    {"MMLU", "STEM", "HUM"},
    {"MATH", "GSM", "COMP"},
    {"TQA", "TQ1", "TQ2"},
}};

}  // namespace

std::span<const std::string_view> paper_cloud_models() { return kCloudModels; }
std::span<const std::string_view> paper_local_models() { return kLocalModels; }
std::span<const PaperPhase> paper_phases() { return kPhases; }
std::span<const PaperCondition> paper_conditions() { return kConditions; }

}  // namespace margin::dataset
