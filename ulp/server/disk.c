// SPDX-License-Identifier: GPL-2.0
/*
 * A block device as the backing of an export: opened for it alone, and given back when the
 * export is no more. What clients ask of it is in disk_io.c.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

static void rblk_srv_disk_dead_work(struct work_struct *work)
{
	struct rblk_srv_disk *disk = container_of(work, struct rblk_srv_disk, dead_work);
	struct rblk_srv_export *export = disk->export;

	pr_warn_ratelimited("rblk: %s, exported as %s, is gone: its I/O fails\n", disk->path,
			    export->name);
	mutex_lock(&rblk_srv_lock);
	if (!list_empty(&export->entry))
		rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
	mutex_unlock(&rblk_srv_lock);
}

/*
 * The device was taken out, or its driver says that it will not work again. The caller took
 * the lock of its holder, which is left to be given back here.
 */
static void rblk_srv_disk_mark_dead(struct block_device *bdev, bool surprise)
{
	struct rblk_srv_disk *disk = bdev->bd_holder;

	/* Whoever closes it waits for the lock, and so for this. */
	WRITE_ONCE(disk->failed, true);
	queue_work(disk->wq, &disk->dead_work);
	mutex_unlock(&bdev->bd_holder_lock);
}

static const struct blk_holder_ops rblk_srv_disk_ops = {
	.mark_dead	= rblk_srv_disk_mark_dead,
};

/* Of whole blocks. */
static u64 rblk_srv_disk_size(struct block_device *bdev)
{
	return round_down(bdev_nr_bytes(bdev), bdev_logical_block_size(bdev));
}

static int rblk_srv_disk_check(struct block_device *bdev, bool read_only, const char **what)
{
	u64 size = rblk_srv_disk_size(bdev);

	if (bdev_logical_block_size(bdev) > SZ_64K) {
		*what = "the device has blocks of more than 64 KiB";
		return -EOPNOTSUPP;
	}
	if (!size || size > RBLK_SIZE_MAX) {
		*what = size ? "the device is larger than 1 PiB" : "the device has no size";
		return -EINVAL;
	}
	if (bdev_read_only(bdev) && !read_only) {
		*what = "the device is for reading only: so has the export to be";
		return -EROFS;
	}
	if (bdev_is_zoned(bdev)) {
		*what = "zoned devices cannot be exported";
		return -EOPNOTSUPP;
	}
	return 0;
}

static const char *rblk_srv_disk_open_what(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no such device node";
	case -ENOTBLK:
		return "that is no block device";
	case -EBUSY:
		return "the device is in use, by a mount, a volume or another export";
	case -EROFS:
	case -EACCES:
		return "the device cannot be opened for writing";
	default:
		return "the device could not be opened";
	}
}

/* Before it is claimed, and with a reason in words. */
static int rblk_srv_disk_look(const struct rblk_srv_export_args *args, const char **what)
{
	struct file *file = bdev_file_open_by_path(args->device, BLK_OPEN_READ, NULL, NULL);
	int err;

	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		*what = rblk_srv_disk_open_what(err);
		return err;
	}
	err = rblk_srv_disk_check(file_bdev(file), args->read_only, what);
	bdev_fput(file);
	return err;
}

/**
 * rblk_srv_disk_open - open the block device of an export
 * @export: the export, in no list yet
 * @args: what was asked; its path is taken over
 * @what: why it failed, in words
 *
 * Context: Process context of who asked, whose names of files it uses. Sleeps.
 * Return: 0, and the export has its size and its identity; or a negative errno, and there is
 * nothing to be closed.
 */
int rblk_srv_disk_open(struct rblk_srv_export *export, struct rblk_srv_export_args *args,
		       const char **what)
{
	blk_mode_t mode = BLK_OPEN_READ | (args->read_only ? 0 : BLK_OPEN_WRITE);
	struct rblk_srv_disk *disk;
	int err;

	*what = "out of memory";
	disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	if (!disk)
		return -ENOMEM;
	disk->export = export;
	disk->path = args->device;
	INIT_WORK(&disk->dead_work, rblk_srv_disk_dead_work);
	/* What is written here may be the way to free memory there. */
	disk->wq = alloc_workqueue("rblk-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, export->name);
	if (!disk->wq) {
		err = -ENOMEM;
		goto err_free;
	}
	err = rblk_srv_disk_look(args, what);
	if (err)
		goto err_wq;
	disk->file = bdev_file_open_by_path(disk->path, mode, disk, &rblk_srv_disk_ops);
	if (IS_ERR(disk->file)) {
		err = PTR_ERR(disk->file);
		*what = rblk_srv_disk_open_what(err);
		/* It was claimed for a moment, and its holder is known until it is closed. */
		if (err == -EACCES)
			return err;
		goto err_wq;
	}
	disk->bdev = file_bdev(disk->file);
	err = rblk_srv_disk_check(disk->bdev, args->read_only, what);
	if (err)
		goto err_file;
	/* What others have written to it must not come after what clients write, nor hide it. */
	*what = "what is in the page cache could not be written to the device";
	err = sync_blockdev(disk->bdev);
	if (err)
		goto err_file;
	invalidate_bdev(disk->bdev);
	args->device = NULL;
	export->size = rblk_srv_disk_size(disk->bdev);
	if (!uuid_is_null(&args->id))
		export->incarnation = args->id;
	export->disk = disk;
	return 0;

err_file:
	bdev_fput(disk->file);
err_wq:
	destroy_workqueue(disk->wq);
err_free:
	kfree(disk);
	return err;
}

/**
 * rblk_srv_disk_close - close the block device of an export
 * @export: the export, which nobody has open and that is in no list; one of memory is left alone
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_disk_close(struct rblk_srv_export *export)
{
	struct rblk_srv_disk *disk = export->disk;

	if (!disk)
		return;
	/* Who looked at it meanwhile has read what is old now. */
	invalidate_bdev(disk->bdev);
	/* Before the rest: until then it may be told that it is dead. */
	bdev_fput(disk->file);
	destroy_workqueue(disk->wq);
	kfree(disk->path);
	kfree(disk);
	export->disk = NULL;
}

/* What is in no unit that a client can use is unknown to it. */
static u32 rblk_srv_disk_hint(u32 bytes)
{
	return IS_ALIGNED(bytes, RBLK_SRV_DISK_ALIGN) ? bytes : 0;
}

/**
 * rblk_srv_disk_limits - what clients have to know of a disk
 * @disk: the disk
 * @reply: takes it
 *
 * Context: Process context. Does not sleep.
 */
void rblk_srv_disk_limits(const struct rblk_srv_disk *disk, struct rblk_msg_limits_reply *reply)
{
	struct block_device *bdev = disk->bdev;
	const u32 most = U32_MAX & ~(RBLK_SRV_DISK_ALIGN - 1);

	reply->flags = bdev_nonrot(bdev) ? 0 : RBLK_LIMITS_ROTATIONAL;
	if (bdev_write_cache(bdev))
		reply->flags |= RBLK_LIMITS_WRITE_CACHE | (bdev_fua(bdev) ? RBLK_LIMITS_FUA : 0);
	reply->physical_block_size = bdev_physical_block_size(bdev);
	reply->io_min = rblk_srv_disk_hint(bdev_io_min(bdev));
	reply->io_opt = rblk_srv_disk_hint(bdev_io_opt(bdev));
	reply->max_io = RBLK_IO_MAX;
	reply->max_discard = min_t(u64, (u64)bdev_max_discard_sectors(bdev) << SECTOR_SHIFT, most);
	if (reply->max_discard) {
		reply->discard_granularity =
			rblk_srv_disk_hint(bdev_discard_granularity(bdev)) ?: RBLK_SRV_DISK_ALIGN;
		reply->discard_alignment = rblk_srv_disk_hint(bdev_discard_alignment(bdev));
	}
	reply->max_write_zeroes =
		min_t(u64, (u64)bdev_write_zeroes_sectors(bdev) << SECTOR_SHIFT, most);
	reply->max_secure_erase =
		min_t(u64, (u64)bdev_max_secure_erase_sectors(bdev) << SECTOR_SHIFT, most);
}
