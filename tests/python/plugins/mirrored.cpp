// Media outside the tree that hold other media: two of a kind, of which a read asks one and a write both.
#include <cxloom/media.hpp>

#include <deque>
#include <map>

namespace {

using namespace cxloom;

class Mirrored final : public Media, private MediaClient {
 public:
  struct Params {
    KindSpec of{"fixed", Value(Value::Map{})};

    static void describe(Schema<Params>& schema) {
      schema.doc("Two media of a kind: reads take turns, writes go to both.");
      schema.field("of", &Params::of).category("media").doc("What each of the two is.");
    }
  };
  Mirrored(const Params& params, const MediaContext& context)
      : kernel_(context.kernel), client_(context.client), source_(context.kernel.new_source()) {
    for (auto& half : halves_) {
      MediaContext inside{context.kernel,  context.owner,    *this,       context.kinds,
                          context.victims, context.capacity, context.seed};
      half = with_path("of", [&] { return context.kinds.make(params.of, inside); });
    }
  }

  void access(Message& message, Address address, Time ready) override {
    if (message.opcode == Opcode::kMemWr) {
      Message& copy = copies_.emplace_back(message);  // kept to the end: a test is short
      copy.account = nullptr;
      writes_[&message] = writes_[&copy] = &message;
      left_[&message] = 2;
      halves_[0]->access(copy, address, ready);
      halves_[1]->access(message, address, ready);
    } else {
      halves_[turn_]->access(message, address, ready);
      turn_ = 1 - turn_;
    }
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t payload) override {
    client_.media_done(*reinterpret_cast<Message*>(payload), kernel_.now());
  }
  std::optional<Bytes> capacity() const override { return halves_[0]->capacity(); }
  std::vector<Media*> parts() override { return {halves_[0].get(), halves_[1].get()}; }

 private:
  void media_done(Message& message, Time at) override {
    const auto found = writes_.find(&message);
    Message* done = &message;
    if (found != writes_.end()) {
      done = found->second;
      writes_.erase(found);
      if (--left_[done] > 0) return;
      left_.erase(done);
    }
    kernel_.schedule(at, source_, *this, 0, reinterpret_cast<std::uintptr_t>(done));
  }

  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::unique_ptr<Media> halves_[2];
  std::size_t turn_ = 0;
  std::deque<Message> copies_;
  std::map<Message*, Message*> writes_;
  std::map<Message*, int> left_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.add<Mirrored>("mirrored"); }
