// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices as they come and go.
 *
 * A device is found by its pointer in our own list rather than through the
 * client data of the core: the list is emptied under our lock before removal
 * waits for the users, so nobody can find a device that is on its way out.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rblk/dev.h>
#include <rblk/fault.h>

static DEFINE_MUTEX(rblk_devs_lock);
static LIST_HEAD(rblk_devs);
static BLOCKING_NOTIFIER_HEAD(rblk_dev_chain);

static void rblk_dev_query(struct ib_device *ib, struct rblk_dev_caps *caps)
{
	const struct ib_device_attr *attr = &ib->attrs;

	caps->max_qp_wr = max(attr->max_qp_wr, 0);
	caps->max_cqe = max(attr->max_cqe, 0);
	caps->max_send_sge = max(attr->max_send_sge, 0);
	caps->max_sge_rd = max(attr->max_sge_rd, 0);
	caps->max_mr = max(attr->max_mr, 0);
	caps->max_init_rd = max(attr->max_qp_init_rd_atom, 0);
	caps->max_resp_rd = max(attr->max_qp_rd_atom, 0);
	caps->vectors = ib->num_comp_vectors;
	caps->page_sizes = attr->page_size_cap;
	caps->max_mr_size = attr->max_mr_size;
	if (attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)
		caps->max_fr_pages = attr->max_fast_reg_page_list_len;
	caps->iwarp = rdma_protocol_iwarp(ib, rdma_start_port(ib));
	/*
	 * rxe goes back to the oldest request that is not acknowledged, and registers
	 * once more on its way what comes after it, which is valid by then.
	 */
	caps->mr_replays = ib->ops.driver_id == RDMA_DRIVER_RXE;
	/*
	 * siw keeps the SG list as it is given and has no page size, though it
	 * reports 4 KiB.
	 */
	caps->mr_counts_sg = ib->ops.driver_id == RDMA_DRIVER_SIW;
}

static int rblk_dev_add(struct ib_device *ib)
{
	struct rblk_dev *dev;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		goto err_add;
	dev->ib = ib;
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->users);
	init_completion(&dev->idle);
	rblk_dev_query(ib, &dev->caps);
	rblk_fault_clamp(&dev->caps);

	mutex_lock(&rblk_devs_lock);
	list_add_tail(&dev->entry, &rblk_devs);
	mutex_unlock(&rblk_devs_lock);

	blocking_notifier_call_chain(&rblk_dev_chain, RBLK_DEV_ADDED, dev);
	return 0;

err_add:
	/* The core does not care, and the CM would listen on it all the same. */
	pr_err("rblk: %s cannot be used until it is added anew\n", ib->name);
	return -ENOMEM;
}

static void rblk_dev_remove(struct ib_device *ib, void *client_data)
{
	struct rblk_dev *dev = NULL, *pos;
	struct rblk_dev_user *user;

	mutex_lock(&rblk_devs_lock);
	list_for_each_entry(pos, &rblk_devs, entry) {
		if (pos->ib == ib) {
			dev = pos;
			list_del(&dev->entry);
			break;
		}
	}
	mutex_unlock(&rblk_devs_lock);
	if (!dev)
		return;

	spin_lock_irq(&dev->lock);
	dev->removing = true;
	if (list_empty(&dev->users))
		complete(&dev->idle);
	list_for_each_entry(user, &dev->users, entry)
		user->removed(user);
	spin_unlock_irq(&dev->lock);

	/*
	 * Not bounded here, since to return while a user has objects of the device
	 * would be a use after free. The tear-down of each user is bounded.
	 */
	wait_for_completion(&dev->idle);

	/* The last to leave completes under the lock: wait until it let go. */
	spin_lock_irq(&dev->lock);
	spin_unlock_irq(&dev->lock);
	kfree(dev);
}

static struct ib_client rblk_ib_client = {
	.name	= "rblk",
	.add	= rblk_dev_add,
	.remove	= rblk_dev_remove,
};

/**
 * rblk_dev_join - begin to use a device
 * @ib: the device; something the caller holds (a CM id) must keep it alive for
 *	the call
 * @user: the user; @user->removed is set, @user->dev is NULL
 *
 * Context: Process context. May sleep.
 * Return: the device, or ERR_PTR(-ENODEV) if it is being removed.
 */
struct rblk_dev *rblk_dev_join(struct ib_device *ib, struct rblk_dev_user *user)
{
	struct rblk_dev *dev, *found = ERR_PTR(-ENODEV);
	int err = rblk_fault(RBLK_FAULT_DEV);

	if (err)
		return ERR_PTR(err);
	mutex_lock(&rblk_devs_lock);
	list_for_each_entry(dev, &rblk_devs, entry) {
		if (dev->ib != ib)
			continue;
		/* Cannot be removing: removal unlists first, under this lock. */
		spin_lock_irq(&dev->lock);
		list_add_tail(&user->entry, &dev->users);
		user->dev = dev;
		spin_unlock_irq(&dev->lock);
		found = dev;
		break;
	}
	mutex_unlock(&rblk_devs_lock);
	return found;
}
EXPORT_SYMBOL_GPL(rblk_dev_join);

/**
 * rblk_dev_leave - use a device no longer
 * @user: the user, which has destroyed all objects it had of the device; one
 *	that uses none is left alone
 *
 * Context: Process context, not from within @user->removed. Does not sleep.
 */
void rblk_dev_leave(struct rblk_dev_user *user)
{
	struct rblk_dev *dev = user->dev;

	if (!dev)
		return;
	spin_lock_irq(&dev->lock);
	list_del(&user->entry);
	user->dev = NULL;
	if (dev->removing && list_empty(&dev->users))
		complete(&dev->idle);
	spin_unlock_irq(&dev->lock);
}
EXPORT_SYMBOL_GPL(rblk_dev_leave);

/**
 * rblk_dev_register_notifier - be told of devices that come
 * @nb: called with enum rblk_dev_event and the struct rblk_dev, in process
 *	context
 *
 * Context: Process context. May sleep.
 * Return: 0, or a negative errno.
 */
int rblk_dev_register_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&rblk_dev_chain, nb);
}
EXPORT_SYMBOL_GPL(rblk_dev_register_notifier);

/**
 * rblk_dev_unregister_notifier - be told no longer
 * @nb: as registered
 *
 * Context: Process context. May sleep; no call of @nb runs once it returns.
 */
void rblk_dev_unregister_notifier(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&rblk_dev_chain, nb);
}
EXPORT_SYMBOL_GPL(rblk_dev_unregister_notifier);

/**
 * rblk_dev_init - begin to watch devices
 *
 * Context: Module load.
 * Return: 0, or a negative errno.
 */
int rblk_dev_init(void)
{
	return ib_register_client(&rblk_ib_client);
}

/**
 * rblk_dev_exit - watch devices no longer; nobody uses one any more
 *
 * Context: Module unload.
 */
void rblk_dev_exit(void)
{
	ib_unregister_client(&rblk_ib_client);
}
