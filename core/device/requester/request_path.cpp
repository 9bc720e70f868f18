#include "device/requester/request_path.hpp"

namespace cxloom {

Agent& RequestPath::connect(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context,
                            Agent& requester, CacheClient& client) {
  Agent* taker = &requester;
  if (params.cache) {
    cache_ = with_path("cache", [&] {
      return std::make_unique<CacheAgent>(*params.cache, params.process_time, endpoint, context,
                                          CacheKinds{context.victims, context.prefetchers}, client,
                                          params.atomics);
    });
    taker = cache_.get();
  }
  if (params.external_cache) {
    external_ = std::make_unique<ExternalCache>(endpoint, client);
    taker = external_.get();
  }
  for (const Channel answers : {Channel::kS2MNDR, Channel::kS2MDRS, Channel::kH2DRsp, Channel::kH2DData})
    endpoint.bind(answers, *taker);
  if (uncached()) return requester;
  for (const Channel snoops : {Channel::kS2MBISnp, Channel::kH2DReq, Channel::kD2HReq})
    endpoint.bind(snoops, *taker);
  return *taker;
}

}  // namespace cxloom
