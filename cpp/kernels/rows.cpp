// Rows of packs, compiled once for all kernels. There is no kernel in this file.
#include "kernels/rows.hpp"

#include "kernels/row_streams.hpp"

namespace kinodyn::KINODYN_TARGET {

template bool load_rows(const Input&, long, long, Pack*);
template bool store_lanes<Writing::Cached, true>(double*, long, int, const Pack*, const char*);
template bool store_lanes<Writing::Cached, false>(double*, long, int, const Pack*, const char*);
template bool store_lanes<Writing::Streamed16, true>(double*, long, int, const Pack*, const char*);
template bool store_lanes<Writing::Streamed16, false>(double*, long, int, const Pack*, const char*);
template bool store_lanes<Writing::StreamedAligned, true>(double*, long, int, const Pack*, const char*);
template bool store_lanes<Writing::StreamedAligned, false>(double*, long, int, const Pack*, const char*);
template bool load_rows(const Input&, long, long, FloatPack*);
template bool store_lanes<Writing::Cached, true>(float*, long, int, const FloatPack*, const char*);
template bool store_lanes<Writing::Cached, false>(float*, long, int, const FloatPack*, const char*);
template bool store_lanes<Writing::Streamed16, true>(float*, long, int, const FloatPack*, const char*);
template bool store_lanes<Writing::Streamed16, false>(float*, long, int, const FloatPack*, const char*);
template bool store_lanes<Writing::StreamedAligned, true>(float*, long, int, const FloatPack*, const char*);
template bool store_lanes<Writing::StreamedAligned, false>(float*, long, int, const FloatPack*, const char*);
#if defined(__AVX512F__) && KINODYN_LANES == 8
template bool stream_rows(double*, int, const Pack*);
template bool stream_rows(float*, int, const FloatPack*);
#endif

extern const KernelList rows_kernels;
const KernelList rows_kernels = {};

}  // namespace kinodyn::KINODYN_TARGET
