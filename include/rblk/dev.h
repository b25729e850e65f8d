/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices, and who uses them. Whoever holds objects of a device (QPs, MRs,
 * PDs) is a user of it from before the first object to after the last. Removal
 * of the device tells every user and returns when the last has left.
 */
#ifndef _RBLK_DEV_H
#define _RBLK_DEV_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rblk/limits.h>

/**
 * struct rblk_dev - an RDMA device
 * @ib: the device
 * @caps: its attributes that matter
 * @entry: in the list of all
 * @lock: protects @users and @removing
 * @users: who uses it
 * @removing: nobody may begin to use it
 * @stuck: it did not complete what was posted the last time: nobody waits long for it
 * @idle: completed when it is being removed and nobody uses it any more
 */
struct rblk_dev {
	struct ib_device	*ib;
	struct rblk_dev_caps	caps;
	struct list_head	entry;
	spinlock_t		lock;		/* protects @users and @removing */
	struct list_head	users;
	bool			removing;
	bool			stuck;
	struct completion	idle;
};

/**
 * struct rblk_dev_user - one user of a device
 * @entry: in the device's list
 * @dev: the device, NULL while it uses none
 * @removed: the device goes away: begin to leave. Called once at the most, with
 *	a spinlock held; must neither sleep nor leave from within.
 */
struct rblk_dev_user {
	struct list_head	entry;
	struct rblk_dev		*dev;
	void (*removed)(struct rblk_dev_user *user);
};

/* Events of the notifier chain; the data is the struct rblk_dev. */
enum rblk_dev_event {
	RBLK_DEV_ADDED,
};

struct rblk_dev *rblk_dev_join(struct ib_device *ib, struct rblk_dev_user *user);
void rblk_dev_leave(struct rblk_dev_user *user);
int rblk_dev_register_notifier(struct notifier_block *nb);
void rblk_dev_unregister_notifier(struct notifier_block *nb);
int rblk_dev_init(void);
void rblk_dev_exit(void);

#endif /* _RBLK_DEV_H */
