// SPDX-License-Identifier: GPL-2.0
/*
 * Faults planted on purpose. The lab has to find each of them on the kernel
 * that is there to find it; a lab that does not is worth nothing.
 */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *fault = "none";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "warn, leak, uaf, overflow, locks, sleep, list, timer or hang");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static void leak(void)
{
	void *lost = kmalloc(1000, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void use_after_free(void)
{
	int *gone = kmalloc(sizeof(*gone) * 16, GFP_KERNEL);

	if (!gone)
		return;
	kfree(gone);
	OPTIMIZER_HIDE_VAR(gone);
	WRITE_ONCE(gone[3], 1);
}

static void overflow(void)
{
	char *small = kmalloc(40, GFP_KERNEL);
	int end = 40;

	if (!small)
		return;
	OPTIMIZER_HIDE_VAR(end);
	WRITE_ONCE(small[end], 1);
	kfree(small);
}

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	msleep(1);
	spin_unlock(&spin);
}

static void list_damage(void)
{
	LIST_HEAD(head);
	struct list_head entry;

	list_add(&entry, &head);
	head.next = &head;
	list_del(&entry);
}

static void timer_function(struct timer_list *timer)
{
}

static void free_live_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, timer_function, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static int __init planted_init(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} faults[] = {
		{ "leak", leak }, { "uaf", use_after_free }, { "overflow", overflow }, { "locks", lock_order },
		{ "sleep", sleep_in_atomic }, { "list", list_damage }, { "timer", free_live_timer },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(fault, faults[i].name)) {
			faults[i].run();
			return 0;
		}
	}
	if (strcmp(fault, "warn"))
		return -EINVAL;
	WARN(1, "planted\n");
	return 0;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Faults planted for the rblk lab");
MODULE_LICENSE("GPL");
