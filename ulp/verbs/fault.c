// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on order, for tests: see include/rblk/fault.h.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rblk/fault.h>

/**
 * struct rblk_fault_state - an order
 * @left: passes until it is carried out, 0 if there is no order
 * @passes: since the order was given
 * @injected: how many of them failed
 * @value: errno of a point; for a work, which of its allocations fails
 * @task: who runs the work in which an allocation is to fail
 */
struct rblk_fault_state {
	atomic_t		left;
	atomic_t		passes;
	atomic_t		injected;
	u32			value;
	struct task_struct	*task;
};

static struct rblk_fault_state rblk_faults[RBLK_FAULTS];
static struct dentry *rblk_fault_dir;
/* READs in flight that the last connection may have and its peer may have: init << 8 | resp. */
static u32 rblk_fault_last_reads;

static const char * const rblk_fault_names[RBLK_FAULTS] = {
	[RBLK_FAULT_CM_ID]		= "cm_id",
	[RBLK_FAULT_ADDR]		= "addr",
	[RBLK_FAULT_ROUTE]		= "route",
	[RBLK_FAULT_DEV]		= "dev",
	[RBLK_FAULT_PD]			= "pd",
	[RBLK_FAULT_CQ]			= "cq",
	[RBLK_FAULT_QP]			= "qp",
	[RBLK_FAULT_MR]			= "mr",
	[RBLK_FAULT_MAP_MR]		= "map_mr",
	[RBLK_FAULT_REG]		= "reg",
	[RBLK_FAULT_RECV]		= "recv",
	[RBLK_FAULT_SEND]		= "send",
	[RBLK_FAULT_CONNECT]		= "connect",
	[RBLK_FAULT_ACCEPT]		= "accept",
	[RBLK_FAULT_LISTEN]		= "listen",
	[RBLK_FAULT_TAGS]		= "tags",
	[RBLK_FAULT_DISK]		= "disk",
	[RBLK_FAULT_ADD_DISK]		= "add_disk",
	[RBLK_FAULT_POST]		= "post",
	[RBLK_FAULT_INV]		= "inv",
	[RBLK_FAULT_FENCE]		= "fence",
	[RBLK_FAULT_SWEEP]		= "sweep",
	[RBLK_FAULT_CM_END]		= "cm_end",
	[RBLK_FAULT_WORK_ACCEPT]	= "work_accept",
	[RBLK_FAULT_WORK_MESSAGE]	= "work_message",
	[RBLK_FAULT_WORK_PING]		= "work_ping",
	[RBLK_FAULT_WORK_END]		= "work_end",
	[RBLK_FAULT_WORK_LISTEN]	= "work_listen",
	[RBLK_FAULT_WORK_FAIL]		= "work_fail",
	[RBLK_FAULT_WORK_REVOKE]	= "work_revoke",
	[RBLK_FAULT_WORK_CONNECT]	= "work_connect",
};

static bool rblk_fault_no_pause;
static bool rblk_fault_no_fence;
static char *rblk_fault_limits;
module_param_named(limits, rblk_fault_limits, charp, 0444);
MODULE_PARM_DESC(limits, "For tests: NAME=VALUE,... what RDMA devices can do at the most");

/* What @limits may name, and where it is in struct rblk_dev_caps. */
static const struct {
	const char	*name;
	size_t		offset;
} rblk_fault_caps[] = {
	{ "max_qp_wr",		offsetof(struct rblk_dev_caps, max_qp_wr) },
	{ "max_cqe",		offsetof(struct rblk_dev_caps, max_cqe) },
	{ "max_send_sge",	offsetof(struct rblk_dev_caps, max_send_sge) },
	{ "max_sge_rd",		offsetof(struct rblk_dev_caps, max_sge_rd) },
	{ "max_fr_pages",	offsetof(struct rblk_dev_caps, max_fr_pages) },
	{ "max_mr",		offsetof(struct rblk_dev_caps, max_mr) },
	{ "max_init_rd",	offsetof(struct rblk_dev_caps, max_init_rd) },
	{ "max_resp_rd",	offsetof(struct rblk_dev_caps, max_resp_rd) },
	{ "mr_replays",		offsetof(struct rblk_dev_caps, mr_replays) },
};

/* The pass that is to fail came. */
static bool rblk_fault_due(struct rblk_fault_state *fault)
{
	atomic_inc(&fault->passes);
	return !atomic_dec_if_positive(&fault->left);
}

/**
 * rblk_fault - whether a step is to fail
 * @point: the step
 *
 * Context: Any.
 * Return: 0, or a negative errno for the step to fail with.
 */
int rblk_fault(enum rblk_fault point)
{
	struct rblk_fault_state *fault = &rblk_faults[point];

	if (!rblk_fault_due(fault))
		return 0;
	atomic_inc(&fault->injected);
	return -(int)fault->value;
}
EXPORT_SYMBOL_GPL(rblk_fault);

/**
 * rblk_fault_work_begin - let an allocation fail in the work that begins
 * @point: the work
 *
 * Context: Process context.
 */
void rblk_fault_work_begin(enum rblk_fault point)
{
	struct rblk_fault_state *fault = &rblk_faults[point];

	if (!rblk_fault_due(fault))
		return;
	fault->task = current;
	current->fail_nth = fault->value;
}
EXPORT_SYMBOL_GPL(rblk_fault_work_begin);

/**
 * rblk_fault_work_end - the work is over
 * @point: the work
 *
 * Context: Process context.
 */
void rblk_fault_work_end(enum rblk_fault point)
{
	struct rblk_fault_state *fault = &rblk_faults[point];

	if (fault->task != current)
		return;
	/* What is left was not reached: the work has fewer allocations. */
	if (!current->fail_nth)
		atomic_inc(&fault->injected);
	current->fail_nth = 0;
	fault->task = NULL;
}
EXPORT_SYMBOL_GPL(rblk_fault_work_end);

static int rblk_fault_show(struct seq_file *s, void *data)
{
	struct rblk_fault_state *fault = s->private;

	seq_printf(s, "passes %d injected %d\n", atomic_read(&fault->passes),
		   atomic_read(&fault->injected));
	return 0;
}

static int rblk_fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, rblk_fault_show, inode->i_private);
}

/* "PASS VALUE": the PASS-th pass from now fails, with errno VALUE or in allocation VALUE. */
static ssize_t rblk_fault_write(struct file *file, const char __user *data, size_t len,
				loff_t *pos)
{
	struct rblk_fault_state *fault = file_inode(file)->i_private;
	u32 pass, value;
	char text[32];

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, data, len))
		return -EFAULT;
	text[len] = 0;
	if (sscanf(text, "%u %u", &pass, &value) != 2 || pass > INT_MAX || !value ||
	    value > MAX_ERRNO)
		return -EINVAL;
	atomic_set(&fault->left, 0);
	atomic_set(&fault->passes, 0);
	atomic_set(&fault->injected, 0);
	fault->value = value;
	atomic_set_release(&fault->left, pass);
	return len;
}

static const struct file_operations rblk_fault_fops = {
	.owner		= THIS_MODULE,
	.open		= rblk_fault_open,
	.read		= seq_read,
	.write		= rblk_fault_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int rblk_fault_parse(struct rblk_dev_caps *caps)
{
	char *text, *rest, *word;
	int err = 0, i;

	if (!rblk_fault_limits || !*rblk_fault_limits)
		return 0;
	text = kstrdup(rblk_fault_limits, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	rest = text;
	while (!err && (word = strsep(&rest, ","))) {
		char *name = strsep(&word, "=");
		u32 value, *cap;

		i = 0;
		while (i < ARRAY_SIZE(rblk_fault_caps) && strcmp(rblk_fault_caps[i].name, name))
			i++;
		if (i == ARRAY_SIZE(rblk_fault_caps) || !word || kstrtou32(word, 0, &value)) {
			err = -EINVAL;
			break;
		}
		cap = (void *)caps + rblk_fault_caps[i].offset;
		*cap = min(*cap, value);
	}
	kfree(text);
	return err;
}

/**
 * rblk_fault_clamp - let a device do less than it can
 * @caps: what it can do
 *
 * Context: Process context. May sleep.
 */
void rblk_fault_clamp(struct rblk_dev_caps *caps)
{
	WARN_ON(rblk_fault_parse(caps));
}

/**
 * rblk_fault_reads - note what READ depth a connection came to
 * @attr: of its queue pair
 *
 * Context: Any.
 */
void rblk_fault_reads(const struct ib_qp_attr *attr)
{
	WRITE_ONCE(rblk_fault_last_reads, attr->max_rd_atomic << 8 | attr->max_dest_rd_atomic);
}

/**
 * rblk_fault_hurry - are there to be no pauses between attempts to connect?
 *
 * Context: Any.
 * Return: true if so.
 */
bool rblk_fault_hurry(void)
{
	return READ_ONCE(rblk_fault_no_pause);
}
EXPORT_SYMBOL_GPL(rblk_fault_hurry);

/**
 * rblk_fault_unfenced - is a new generation of a path to be let in beside the old one?
 *
 * That is wrong. A test that looks for late writes must find them then. No path is
 * pinged meanwhile, else the server would end the old one when it notices.
 *
 * Context: Any.
 * Return: true if so.
 */
bool rblk_fault_unfenced(void)
{
	return READ_ONCE(rblk_fault_no_fence);
}
EXPORT_SYMBOL_GPL(rblk_fault_unfenced);

/**
 * rblk_fault_init - take orders
 *
 * Context: Module load.
 * Return: 0; -EINVAL if the parameter makes no sense; -ENOMEM.
 */
int rblk_fault_init(void)
{
	struct rblk_dev_caps caps = { };
	struct dentry *dir;
	int err, i;

	err = rblk_fault_parse(&caps);
	if (err)
		return err;
	rblk_fault_dir = debugfs_create_dir("rblk", NULL);
	debugfs_create_x32("reads", 0400, rblk_fault_dir, &rblk_fault_last_reads);
	debugfs_create_bool("unfenced", 0600, rblk_fault_dir, &rblk_fault_no_fence);
	debugfs_create_bool("hurry", 0600, rblk_fault_dir, &rblk_fault_no_pause);
	dir = debugfs_create_dir("fault", rblk_fault_dir);
	for (i = 0; i < RBLK_FAULTS; i++)
		debugfs_create_file(rblk_fault_names[i], 0600, dir, &rblk_faults[i],
				    &rblk_fault_fops);
	return 0;
}

/**
 * rblk_fault_exit - take no orders any more
 *
 * Context: Module unload.
 */
void rblk_fault_exit(void)
{
	debugfs_remove_recursive(rblk_fault_dir);
}
