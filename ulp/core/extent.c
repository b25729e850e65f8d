// SPDX-License-Identifier: GPL-2.0
/* How a memory export is cut into extents. */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include <rblk/extent.h>
#include <rblk/wire.h>

/**
 * rblk_extents_init - cut an export into extents
 * @ext: to fill in; all zero when it fails
 * @size: bytes of the export
 * @shift: log2 of the bytes of an extent
 *
 * Context: Any.
 * Return: 0; -EINVAL if @size is 0 or @shift out of range; -EFBIG if @size is
 * too large, or would make too many extents.
 */
int rblk_extents_init(struct rblk_extents *ext, u64 size, u8 shift)
{
	u64 nr;

	*ext = (struct rblk_extents){ };
	if (!size || shift < RBLK_EXTENT_SHIFT_MIN || shift > RBLK_EXTENT_SHIFT_MAX)
		return -EINVAL;
	if (size > RBLK_SIZE_MAX)
		return -EFBIG;
	/* Not (size + mask) >> shift, which is a sum that could wrap. */
	nr = ((size - 1) >> shift) + 1;
	if (nr > RBLK_EXTENTS_MAX)
		return -EFBIG;
	ext->size = size;
	ext->nr = nr;
	ext->shift = shift;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_extents_init);

/**
 * rblk_extent_find - the one extent that a request touches
 * @ext: the extents of the export
 * @offset: of the request in the export
 * @len: bytes of the request
 * @index: where to put the index of the extent
 *
 * Context: Any.
 * Return: 0; -EINVAL if @len is 0 or the request touches a second extent;
 * -ERANGE if it ends beyond the export. @index is set only with 0.
 */
int rblk_extent_find(const struct rblk_extents *ext, u64 offset, u32 len, u32 *index)
{
	u64 first;

	if (!len)
		return -EINVAL;
	/* In this order no sum is needed, so nothing can wrap. */
	if (offset >= ext->size || len > ext->size - offset)
		return -ERANGE;
	first = offset >> ext->shift;
	if ((offset + len - 1) >> ext->shift != first)
		return -EINVAL;
	*index = first;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_extent_find);

/**
 * rblk_extent_start - where an extent begins
 * @ext: the extents of the export
 * @index: of the extent
 *
 * Context: Any.
 * Return: offset in the export, bytes.
 */
u64 rblk_extent_start(const struct rblk_extents *ext, u32 index)
{
	return (u64)index << ext->shift;
}
EXPORT_SYMBOL_GPL(rblk_extent_start);

/**
 * rblk_extent_len - how long an extent is
 * @ext: the extents of the export
 * @index: of the extent
 *
 * Context: Any.
 * Return: bytes, 0 if there is no such extent.
 */
u32 rblk_extent_len(const struct rblk_extents *ext, u32 index)
{
	if (index >= ext->nr)
		return 0;
	return min(1ULL << ext->shift, ext->size - rblk_extent_start(ext, index));
}
EXPORT_SYMBOL_GPL(rblk_extent_len);
