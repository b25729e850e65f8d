// SPDX-License-Identifier: GPL-2.0
#include "model.hpp"

#include <algorithm>

namespace sequence {

namespace {

constexpr Number kMostMixed = 1024;  // writes that one read can take, as far as this looks

void raise(std::atomic<Number>& to, Number number) {
    Number now = to.load();
    while (now < number && !to.compare_exchange_weak(now, number)) {
    }
}

std::string text(Number number) {
    return std::to_string(number);
}

}  // namespace

Model::Model(std::uint64_t run, std::uint64_t blocks, std::size_t sectors_per_block, bool racy)
    : run_(run),
      blocks_(blocks),
      per_block_(sectors_per_block),
      racy_(racy),
      submitted_(blocks),
      acknowledged_(blocks),
      seen_(blocks * sectors_per_block) {}

Number Model::submit(std::uint64_t block) {
    return submitted_[block].fetch_add(1) + 1;
}

void Model::fill(std::span<std::byte> data, std::uint64_t block, Number number) const {
    for (std::size_t n = 0; n < per_block_; ++n)
        sequence::fill(data.subspan(n * kSector).first<kSector>(), {run_, block, n}, number);
}

void Model::acknowledge(std::uint64_t block, Number number) {
    acknowledged_[block].store(number);
}

void Model::begin_read(std::uint64_t block, std::size_t count, std::vector<Number>& least) const {
    least.resize(count * per_block_);
    for (std::size_t n = 0; n < least.size(); ++n)
        least[n] = std::max(acknowledged_[block + n / per_block_].load(),
                            seen_[block * per_block_ + n].load());
}

std::optional<std::string> Model::check(std::uint64_t block, std::span<const std::byte> data,
                                        std::span<const Number> least) {
    for (std::size_t n = 0; n < least.size(); ++n) {
        const Place place{run_, block + n / per_block_, n % per_block_};
        const ConstSector sector = data.subspan(n * kSector).first<kSector>();
        if (auto wrong = check_sector(place, sector, least[n], submitted_[place.block].load()))
            return "block " + text(place.block) + " sector " + text(place.sector) + ": " + *wrong;
    }
    return {};
}

std::optional<std::string> Model::check_sector(const Place& place, ConstSector sector, Number least,
                                               Number most) {
    const Found found = inspect(sector);
    if (found.kind == Found::Kind::Nothing)
        return "no record at all, but " + bounds(place.block, least, most);
    if (found.place.run != run_) return "foreign: it was written by another run";
    if (found.place != place)
        return "foreign: what belongs to block " + text(found.place.block) + " sector " +
               text(found.place.sector) + ", number " + text(found.number);
    if (found.kind == Found::Kind::Torn) {
        if (racy_ && least < most && most - least < kMostMixed && mixed(sector, place, least, most))
            return {};
        return "torn: begins as number " + text(found.number) + " for " + text(found.words * 8) +
               " bytes, and ends as number " + text(found.last) + "; " +
               bounds(place.block, least, most);
    }
    if (found.number < least)
        return "stale: number " + text(found.number) + "; " + bounds(place.block, least, most);
    if (found.number > most)
        return "never submitted: number " + text(found.number) + "; " +
               bounds(place.block, least, most);
    raise(seen_[place.block * per_block_ + place.sector], found.number);
    return {};
}

std::string Model::bounds(std::uint64_t block, Number least, Number most) const {
    return "number " + text(least) + " was acknowledged or read before, " + text(most) +
           " submitted, and " + text(acknowledged_[block].load()) + " is acknowledged by now";
}

}  // namespace sequence
