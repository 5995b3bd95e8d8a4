// raw: stated confidence as it is; the baseline of every table.
#include "calibrate/registry.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{.identifier = "raw", .summary = "stated confidence, unchanged"};
  return kInfo;
}

class Raw final : public Calibrator {
 public:
  explicit Raw(Parameters resolved) : Calibrator(margin::info(), std::move(resolved)) {}

 protected:
  void on_join(ModelId, const Calibrator*, ModelId) override {}
  bool on_discount(double) override { return true; }
  [[nodiscard]] bool merges() const override { return true; }
  [[nodiscard]] double predict(ModelId, double confidence) const override { return confidence; }
  void learn(const Observation&) override {}
  void describe(ModelId, Explanation&) const override {}
  void save(internal::Encoder&) const override {}
  void load(internal::Decoder&) override {}
  void make_room(std::size_t) override {}
};

}  // namespace

const internal::Method internal::kRaw = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<Raw>(std::move(resolved)); }};

}  // namespace margin
