// SPDX-License-Identifier: GPL-2.0
/* A fixed number of numbered slots. */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/find.h>

#include <rblk/slots.h>

/**
 * rblk_slots_init - make slots, all of them free
 * @slots: to fill in
 * @nr: how many
 *
 * Context: Any.
 * Return: 0; -EINVAL if @nr is 0 or above RBLK_SLOTS_MAX, then there are none.
 */
int rblk_slots_init(struct rblk_slots *slots, u32 nr)
{
	bitmap_zero(slots->used, RBLK_SLOTS_MAX);
	slots->taken = 0;
	slots->nr = 0;
	if (!nr || nr > RBLK_SLOTS_MAX)
		return -EINVAL;
	slots->nr = nr;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_slots_init);

/**
 * rblk_slots_get - take the lowest free slot
 * @slots: the slots
 *
 * Context: Any; the caller holds the lock of @slots.
 * Return: the number of the slot; -EBUSY if none is free.
 */
int rblk_slots_get(struct rblk_slots *slots)
{
	unsigned long slot = find_first_zero_bit(slots->used, slots->nr);

	if (slot >= slots->nr)
		return -EBUSY;
	__set_bit(slot, slots->used);
	slots->taken++;
	return slot;
}
EXPORT_SYMBOL_GPL(rblk_slots_get);

/**
 * rblk_slots_put - give a slot back
 * @slots: the slots
 * @slot: its number; it may come from a peer, so anything goes
 *
 * Context: Any; the caller holds the lock of @slots.
 * Return: 0; -EINVAL if @slot is not taken, then nothing changes.
 */
int rblk_slots_put(struct rblk_slots *slots, u32 slot)
{
	if (slot >= slots->nr || !test_bit(slot, slots->used))
		return -EINVAL;
	__clear_bit(slot, slots->used);
	slots->taken--;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_slots_put);
