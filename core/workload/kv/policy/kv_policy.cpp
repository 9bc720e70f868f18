#include "workload/kv/policy/kv_policy.hpp"

#include "base/schema.hpp"
#include "workload/kv/policy/far.hpp"
#include "workload/kv/policy/fifo.hpp"
#include "workload/kv/policy/lfu.hpp"
#include "workload/kv/policy/lru.hpp"
#include "workload/kv/policy/s3_fifo.hpp"

namespace cxloom {

void register_kv_policies(KvPolicyRegistry& registry) {
  registry.add<FifoKvPolicy>("fifo");
  registry.add<LruKvPolicy>("lru");
  registry.add<LfuKvPolicy>("lfu");
  registry.add<S3FifoKvPolicy>("s3-fifo");
  registry.add<FarKvPolicy>("far");
}

}  // namespace cxloom
