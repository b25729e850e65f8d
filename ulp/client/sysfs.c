// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/block/rblkN/rblk/ and /sys/block/rblkN/rblk-queueK/: facts and counters,
 * one value a file; the paths are in sysfs_path.c. Documented in
 * Documentation/ABI/testing/sysfs-block-rblk.
 */
#include <linux/blkdev.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/**
 * rblk_clt_sysfs_dev - whose attribute it is
 * @d: the device of the disk
 *
 * Context: Any, in a show or store of it.
 * Return: the device.
 */
struct rblk_clt_device *rblk_clt_sysfs_dev(struct device *d)
{
	return dev_to_disk(d)->private_data;
}

static ssize_t state_show(struct device *d, struct device_attribute *attr, char *buf)
{
	/* As in Documentation/netlink/specs/rblk-client.yaml. */
	static const char * const names[] = {
		[RBLK_CLIENT_DEVICE_STATE_LIVE] = "live",
		[RBLK_CLIENT_DEVICE_STATE_FAILED] = "failed",
		[RBLK_CLIENT_DEVICE_STATE_REMOVING] = "removing",
		[RBLK_CLIENT_DEVICE_STATE_RECOVERING] = "recovering",
	};
	const char *what;

	return sysfs_emit(buf, "%s\n",
			  names[rblk_clt_device_state(rblk_clt_sysfs_dev(d), &what)]);
}
static DEVICE_ATTR_RO(state);

static ssize_t reason_show(struct device *d, struct device_attribute *attr, char *buf)
{
	const char *what = NULL;
	int err;

	rblk_clt_device_reason(rblk_clt_sysfs_dev(d), &err, &what);
	return sysfs_emit(buf, "%s\n", err && what ? what : "");
}
static DEVICE_ATTR_RO(reason);

static ssize_t no_path_timeout_ms_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(rblk_clt_sysfs_dev(d)->no_path_ms));
}

static ssize_t no_path_timeout_ms_store(struct device *d, struct device_attribute *attr,
					const char *buf, size_t count)
{
	u32 ms;
	int err = kstrtou32(buf, 0, &ms);

	if (err)
		return err;
	if (ms > RBLK_CLIENT_MAX_NO_PATH_TIMEOUT_MS && ms != RBLK_CLT_FOR_EVER)
		return -EINVAL;
	mutex_lock(&rblk_clt_lock);
	rblk_clt_no_path_set(rblk_clt_sysfs_dev(d), ms);
	mutex_unlock(&rblk_clt_lock);
	return count;
}
static DEVICE_ATTR_RW(no_path_timeout_ms);

/* As in Documentation/netlink/specs/rblk-client.yaml. */
static const char * const rblk_clt_policies[] = {
	[RBLK_POLICY_PREFERRED] = "preferred",
	[RBLK_POLICY_ROUND_ROBIN] = "round-robin",
	[RBLK_POLICY_MIN_INFLIGHT] = "min-inflight",
	[RBLK_POLICY_MIN_LATENCY] = "min-latency",
};

static ssize_t policy_show(struct device *d, struct device_attribute *attr, char *buf)
{
	const struct rblk_clt_session *session = rblk_clt_sysfs_dev(d)->session;

	return sysfs_emit(buf, "%s\n", rblk_clt_policies[READ_ONCE(session->policy)]);
}

static ssize_t policy_store(struct device *d, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct rblk_clt_session *session = rblk_clt_sysfs_dev(d)->session;
	int policy = sysfs_match_string(rblk_clt_policies, buf);

	if (policy < 0)
		return policy;
	if (!READ_ONCE(session->reconnect))
		return -EOPNOTSUPP;
	mutex_lock(&rblk_clt_lock);
	rblk_clt_policy_set(session, policy);
	mutex_unlock(&rblk_clt_lock);
	return count;
}
static DEVICE_ATTR_RW(policy);

/* As in Documentation/netlink/specs/rblk-client.yaml. */
static const char * const rblk_clt_orders[] = {
	[RBLK_CLIENT_WRITE_ORDER_AUTO] = "auto",
	[RBLK_CLIENT_WRITE_ORDER_STRICT] = "strict",
	[RBLK_CLIENT_WRITE_ORDER_RELAXED] = "relaxed",
};

static ssize_t write_order_show(struct device *d, struct device_attribute *attr, char *buf)
{
	const struct rblk_clt_session *session = rblk_clt_sysfs_dev(d)->session;

	return sysfs_emit(buf, "%s\n", rblk_clt_orders[READ_ONCE(session->write_order)]);
}

static ssize_t write_order_store(struct device *d, struct device_attribute *attr,
				 const char *buf, size_t count)
{
	struct rblk_clt_session *session = rblk_clt_sysfs_dev(d)->session;
	int order = sysfs_match_string(rblk_clt_orders, buf);

	if (order < 0)
		return order;
	if (!READ_ONCE(session->reconnect))
		return -EOPNOTSUPP;
	mutex_lock(&rblk_clt_lock);
	rblk_clt_order_set(session, order);
	mutex_unlock(&rblk_clt_lock);
	return count;
}
static DEVICE_ATTR_RW(write_order);

static ssize_t strict_writes_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(rblk_clt_sysfs_dev(d)->session->strict));
}
static DEVICE_ATTR_RO(strict_writes);

static ssize_t export_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rblk_clt_sysfs_dev(d)->export);
}
static DEVICE_ATTR_RO(export);

static ssize_t server_show(struct device *d, struct device_attribute *attr, char *buf)
{
	struct sockaddr_storage server;
	char addr[RBLK_ADDR_STR];

	rblk_clt_session_server(rblk_clt_sysfs_dev(d)->session, &server);
	return sysfs_emit(buf, "%s\n", rblk_addr_str(&server, addr));
}
static DEVICE_ATTR_RO(server);

static ssize_t session_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%pUb\n", &rblk_clt_sysfs_dev(d)->session->id);
}
static DEVICE_ATTR_RO(session);

static ssize_t incarnation_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%pUb\n", &rblk_clt_sysfs_dev(d)->incarnation);
}
static DEVICE_ATTR_RO(incarnation);

static ssize_t backing_show(struct device *d, struct device_attribute *attr, char *buf)
{
	bool disk = rblk_clt_sysfs_dev(d)->backing == RBLK_WIRE_DISK;

	return sysfs_emit(buf, "%s\n", disk ? "disk" : "memory");
}
static DEVICE_ATTR_RO(backing);

/* Memory is lost with the server. */
static ssize_t persistent_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", rblk_clt_sysfs_dev(d)->backing == RBLK_WIRE_DISK);
}
static DEVICE_ATTR_RO(persistent);

static ssize_t shared_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", rblk_clt_sysfs_dev(d)->shared);
}
static DEVICE_ATTR_RO(shared);

static ssize_t queues_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rblk_clt_sysfs_dev(d)->nr_queues);
}
static DEVICE_ATTR_RO(queues);

static ssize_t depth_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rblk_clt_sysfs_dev(d)->session->tag_set.queue_depth);
}
static DEVICE_ATTR_RO(depth);

static ssize_t extent_size_show(struct device *d, struct device_attribute *attr, char *buf)
{
	u8 shift = rblk_clt_sysfs_dev(d)->ext.shift;

	return sysfs_emit(buf, "%llu\n", shift ? 1ULL << shift : 0);
}
static DEVICE_ATTR_RO(extent_size);

static ssize_t extents_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rblk_clt_sysfs_dev(d)->ext.nr);
}
static DEVICE_ATTR_RO(extents);

static struct attribute *rblk_clt_attrs[] = {
	&dev_attr_state.attr,
	&dev_attr_reason.attr,
	&dev_attr_no_path_timeout_ms.attr,
	&dev_attr_policy.attr,
	&dev_attr_write_order.attr,
	&dev_attr_strict_writes.attr,
	&dev_attr_export.attr,
	&dev_attr_server.attr,
	&dev_attr_session.attr,
	&dev_attr_incarnation.attr,
	&dev_attr_backing.attr,
	&dev_attr_persistent.attr,
	&dev_attr_shared.attr,
	&dev_attr_queues.attr,
	&dev_attr_depth.attr,
	&dev_attr_extent_size.attr,
	&dev_attr_extents.attr,
	NULL
};

static const struct attribute_group rblk_clt_group = {
	.name	= "rblk",
	.attrs	= rblk_clt_attrs,
};

static const struct {
	const char	*name;
	size_t		offset;
} rblk_clt_counters[] = {
	{ "reads",		offsetof(struct rblk_clt_stats, reads) },
	{ "writes",		offsetof(struct rblk_clt_stats, writes) },
	{ "read_bytes",		offsetof(struct rblk_clt_stats, read_bytes) },
	{ "write_bytes",	offsetof(struct rblk_clt_stats, write_bytes) },
	{ "errors",		offsetof(struct rblk_clt_stats, errors) },
};

/**
 * struct rblk_clt_queue_group - the attributes of one queue
 * @group: the group
 * @name: of the group
 * @attrs: for @group
 * @counter: one for each counter; its var is the counter
 */
struct rblk_clt_queue_group {
	struct attribute_group		group;
	char				name[24];
	struct attribute		*attrs[ARRAY_SIZE(rblk_clt_counters) + 1];
	struct dev_ext_attribute	counter[ARRAY_SIZE(rblk_clt_counters)];
};

static ssize_t rblk_clt_counter_show(struct device *d, struct device_attribute *attr, char *buf)
{
	const u64 *counter = container_of(attr, struct dev_ext_attribute, attr)->var;

	return sysfs_emit(buf, "%llu\n", READ_ONCE(*counter));
}

static void rblk_clt_queue_group_init(struct rblk_clt_queue_group *qg,
				      struct rblk_clt_stats *stats, u32 index)
{
	int i;

	snprintf(qg->name, sizeof(qg->name), "rblk-queue%u", index);
	qg->group.name = qg->name;
	qg->group.attrs = qg->attrs;
	for (i = 0; i < ARRAY_SIZE(rblk_clt_counters); i++) {
		struct dev_ext_attribute *counter = &qg->counter[i];

		sysfs_attr_init(&counter->attr.attr);
		counter->attr.attr.name = rblk_clt_counters[i].name;
		counter->attr.attr.mode = 0444;
		counter->attr.show = rblk_clt_counter_show;
		counter->var = (void *)stats + rblk_clt_counters[i].offset;
		qg->attrs[i] = &counter->attr.attr;
	}
}

/**
 * rblk_clt_sysfs_create - make the attribute groups of a device
 * @dev: the device; its disk is not added yet
 *
 * Context: Process context. Sleeps.
 * Return: 0, or -ENOMEM.
 */
int rblk_clt_sysfs_create(struct rblk_clt_device *dev)
{
	struct rblk_clt_queue_group *queues;
	u32 i;

	dev->groups = kcalloc(1 + dev->nr_queues + RBLK_CLT_PATHS + 1, sizeof(*dev->groups),
			      GFP_KERNEL);
	queues = kcalloc(dev->nr_queues, sizeof(*queues), GFP_KERNEL);
	dev->queue_groups = queues;
	if (!dev->groups || !queues)
		return -ENOMEM;
	dev->groups[0] = &rblk_clt_group;
	for (i = 0; i < dev->nr_queues; i++) {
		rblk_clt_queue_group_init(&queues[i], &dev->stats[i], i);
		dev->groups[1 + i] = &queues[i].group;
	}
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		dev->groups[1 + dev->nr_queues + i] = rblk_clt_sysfs_path_group(i);
	return 0;
}

/**
 * rblk_clt_sysfs_free - free the attribute groups of a device
 * @dev: the device; its disk is gone, or was never added
 *
 * Context: Process context.
 */
void rblk_clt_sysfs_free(struct rblk_clt_device *dev)
{
	kfree(dev->groups);
	kfree(dev->queue_groups);
}
