// The lengths of segments: those of ../src/suite/segments.rs, bit for bit. Plain C++, so that it can be tried without CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

// 64 bits from a seed and a number: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
inline uint64_t split_mix(uint64_t seed, uint64_t number) {
    uint64_t bits = seed + (number + 1) * 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

constexpr uint64_t kSegmentElements = 67108864;
constexpr uint64_t kQuickSegmentElements = 65536;
constexpr uint64_t kPowerLawSeed = 20261121;
constexpr uint64_t kPowerLawDoublings = 20;

// Where segments start, and where the last one ends. `length` 0: a power law, P(length >= x) about 1 / x. The length is
// 2^k with probability 2^-(k+1), k at most kPowerLawDoublings, and up to as much again, uniformly; in integers alone, so
// that every machine gives the same. The last segment is cut off at `n`.
inline std::vector<uint32_t> segment_offsets(uint64_t n, uint64_t length) {
    std::vector<uint32_t> offsets = {0};
    for (uint64_t number = 0, end = 0; end < n; ++number) {
        uint64_t next = length;
        if (length == 0) {
            uint64_t bits = split_mix(kPowerLawSeed, number), doublings = 0;
            while (doublings < kPowerLawDoublings && bits >> doublings & 1) ++doublings;
            next = (1ull << doublings) + (bits >> 32) % (1ull << doublings);
        }
        end = std::min(n, end + next);
        offsets.push_back(uint32_t(end));
    }
    return offsets;
}
