#include "dataset/confidence_profile.h"

namespace margin::dataset {
namespace {

constexpr ConfidenceLevel kHighLevels[] = {{1.0, 0.25}, {0.99, 0.03}, {0.98, 0.12}, {0.95, 0.45}, {0.92, 0.03}, {0.9, 0.1}, {0.85, 0.02}};

constexpr ConfidenceLevel kMediumLevels[] = {{1.0, 0.05}, {0.98, 0.05}, {0.95, 0.56}, {0.92, 0.05},
                                             {0.9, 0.22}, {0.85, 0.05}, {0.8, 0.015}, {0.75, 0.005}};

constexpr ConfidenceLevel kWideLevels[] = {{1.0, 0.18}, {0.98, 0.07}, {0.95, 0.32}, {0.9, 0.15}, {0.85, 0.08}, {0.8, 0.06},
                                           {0.7, 0.04}, {0.6, 0.03},  {0.5, 0.02},  {0.3, 0.02}, {0.2, 0.02},  {0.1, 0.01}};

constexpr ConfidenceLevel kBroadLevels[] = {{1.0, 0.05}, {0.95, 0.25}, {0.9, 0.12}, {0.85, 0.06}, {0.8, 0.05}, {0.7, 0.03}, {0.6, 0.05},
                                            {0.5, 0.05}, {0.4, 0.05},  {0.3, 0.08}, {0.2, 0.09},  {0.1, 0.07}, {0.05, 0.05}};

}  // namespace

std::span<const ConfidenceLevel> levels_of(Profile profile) {
  switch (profile) {
    case Profile::kHigh: return kHighLevels;
    case Profile::kMedium: return kMediumLevels;
    case Profile::kWide: return kWideLevels;
    case Profile::kBroad: return kBroadLevels;
  }
  return {};
}

std::size_t level_at(std::span<const ConfidenceLevel> levels, double upper) {
  double above = 0.0;
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    above += levels[level].share;
    if (upper < above) return level;
  }
  return levels.size() - 1;
}

double mean_confidence(Profile profile) {
  double mean = 0.0;
  for (const ConfidenceLevel& level : levels_of(profile)) mean += level.share * level.confidence;
  return mean;
}

}  // namespace margin::dataset
