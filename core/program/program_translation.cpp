#include "program/program_translation.hpp"

namespace cxloom {

Tlb& ProgramTranslation::tlb_of(const void* core) {
  std::unique_ptr<Tlb>& its = tlbs_[core];
  if (!its) its = std::make_unique<Tlb>(params_, policies_);
  return *its;
}

void ProgramTranslation::set_recording(bool recording, std::uint64_t walked) {
  if (recording == recording_) return;
  recording_ = recording;
  if (recording) walked_start_ = walked;
  else counts_.cycles += walked - walked_start_;
}

TranslationCounts ProgramTranslation::recorded(std::uint64_t walked) const {
  TranslationCounts counts = counts_;
  if (recording_) counts.cycles += walked - walked_start_;
  return counts;
}

}  // namespace cxloom
