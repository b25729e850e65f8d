// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/block/rblkN/rblk-pathK/: the paths of the session of a device, and what can be changed
 * of them, one value a file. Documented in Documentation/ABI/testing/sysfs-block-rblk.
 *
 * A folder stands for a place, in which one path may follow another. All of them are there from
 * the start, as none could be made or removed while somebody reads it under the locks that a
 * change of the paths takes.
 */
#include <linux/device.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/**
 * struct rblk_clt_path_attr - an attribute of a path
 * @attr: the attribute
 * @index: number of the path
 * @show: writes it out from the facts
 * @tune: where a value that is written goes, or NULL for one that is only read
 * @min: the least value
 * @max: the largest one
 */
struct rblk_clt_path_attr {
	struct device_attribute	attr;
	u32			index;
	int			(*show)(char *buf, const struct rblk_clt_path_facts *facts);
	int			*(*tune)(struct rblk_clt_tune *tune);
	u32			min;
	u32			max;
};

static int rblk_clt_show_addr(char *buf, const struct sockaddr_storage *addr)
{
	char text[RBLK_ADDR_STR];

	return sysfs_emit(buf, "%s\n", addr->ss_family ? rblk_addr_str(addr, text) : "");
}

static int rblk_clt_show_state(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%s\n", rblk_path_state_name(facts->state));
}

static int rblk_clt_show_server(char *buf, const struct rblk_clt_path_facts *facts)
{
	return rblk_clt_show_addr(buf, &facts->server);
}

static int rblk_clt_show_source(char *buf, const struct rblk_clt_path_facts *facts)
{
	return rblk_clt_show_addr(buf, &facts->source);
}

static int rblk_clt_show_rdma_device(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%s\n", facts->rdma_device);
}

static int rblk_clt_show_generation(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%u\n", facts->generation);
}

static int rblk_clt_show_active(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%d\n", facts->active);
}

static int rblk_clt_show_drained(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%d\n", facts->drained);
}

static int rblk_clt_show_losses(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%u\n", facts->losses);
}

static int rblk_clt_show_last_error(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%s\n", facts->what ?: "");
}

static int rblk_clt_show_tos(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%u\n", facts->tuning.tos);
}

static int rblk_clt_show_ack_timeout(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%u\n", facts->tuning.ack_timeout);
}

static int rblk_clt_show_retry_count(char *buf, const struct rblk_clt_path_facts *facts)
{
	return sysfs_emit(buf, "%u\n", facts->tuning.retries);
}

static int *rblk_clt_tune_tos(struct rblk_clt_tune *tune)
{
	return &tune->tos;
}

static int *rblk_clt_tune_ack_timeout(struct rblk_clt_tune *tune)
{
	return &tune->ack_timeout;
}

static int *rblk_clt_tune_retry_count(struct rblk_clt_tune *tune)
{
	return &tune->retries;
}

#define RBLK_CLT_PATH_RO(_name)	{ .attr.attr.name = #_name, .show = rblk_clt_show_##_name }
#define RBLK_CLT_PATH_RW(_name, _min, _max)			\
	{ .attr.attr.name = #_name, .show = rblk_clt_show_##_name,	\
	  .tune = rblk_clt_tune_##_name, .min = _min, .max = _max }

static const struct rblk_clt_path_attr rblk_clt_path_attr_model[] = {
	RBLK_CLT_PATH_RO(state),
	RBLK_CLT_PATH_RO(server),
	RBLK_CLT_PATH_RO(source),
	RBLK_CLT_PATH_RO(rdma_device),
	RBLK_CLT_PATH_RO(generation),
	RBLK_CLT_PATH_RO(active),
	RBLK_CLT_PATH_RO(drained),
	RBLK_CLT_PATH_RO(losses),
	RBLK_CLT_PATH_RO(last_error),
	RBLK_CLT_PATH_RW(tos, 0, RBLK_CLIENT_MAX_TOS),
	RBLK_CLT_PATH_RW(ack_timeout, RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT),
	RBLK_CLT_PATH_RW(retry_count, 0, RBLK_CLIENT_MAX_RETRY_COUNT),
};

#define RBLK_CLT_NR_PATH_ATTRS	ARRAY_SIZE(rblk_clt_path_attr_model)

/* Of all devices: an attribute knows its path, and is told its device. */
static struct {
	char				name[16];
	struct rblk_clt_path_attr	attr[RBLK_CLT_NR_PATH_ATTRS];
	struct attribute		*attrs[RBLK_CLT_NR_PATH_ATTRS + 1];
	struct attribute_group		group;
} rblk_clt_path_groups[RBLK_CLT_PATHS];

static ssize_t rblk_clt_path_attr_show(struct device *d, struct device_attribute *attr, char *buf)
{
	const struct rblk_clt_path_attr *pa = container_of(attr, struct rblk_clt_path_attr, attr);
	struct rblk_clt_session *session = rblk_clt_sysfs_dev(d)->session;
	struct rblk_clt_path_facts facts;

	rblk_clt_path_facts(&session->paths[pa->index], &facts);
	/* Of what was there last nothing but that it is gone. */
	if (facts.state == RBLK_PATH_REMOVED)
		facts = (struct rblk_clt_path_facts) { .state = RBLK_PATH_REMOVED };
	return pa->show(buf, &facts);
}

static ssize_t rblk_clt_path_attr_store(struct device *d, struct device_attribute *attr,
					const char *buf, size_t count)
{
	const struct rblk_clt_path_attr *pa = container_of(attr, struct rblk_clt_path_attr, attr);
	struct rblk_clt_tune tune = RBLK_CLT_TUNE_NOTHING;
	u32 value;
	int err = kstrtou32(buf, 0, &value);

	if (err)
		return err;
	if (value < pa->min || value > pa->max)
		return -EINVAL;
	*pa->tune(&tune) = value;
	err = rblk_clt_path_tune(rblk_clt_sysfs_dev(d)->index, pa->index, &tune, NULL);
	return err ?: count;
}

/**
 * rblk_clt_sysfs_path_init - make the attribute groups of the paths of all devices
 *
 * Context: Process context, before there is a device. Does not sleep.
 */
void rblk_clt_sysfs_path_init(void)
{
	struct rblk_clt_path_attr *pa;
	u32 k, i;

	for (k = 0; k < RBLK_CLT_PATHS; k++) {
		for (i = 0; i < RBLK_CLT_NR_PATH_ATTRS; i++) {
			pa = &rblk_clt_path_groups[k].attr[i];
			*pa = rblk_clt_path_attr_model[i];
			pa->index = k;
			pa->attr.attr.mode = pa->tune ? 0644 : 0444;
			pa->attr.show = rblk_clt_path_attr_show;
			pa->attr.store = pa->tune ? rblk_clt_path_attr_store : NULL;
			rblk_clt_path_groups[k].attrs[i] = &pa->attr.attr;
		}
		snprintf(rblk_clt_path_groups[k].name, sizeof(rblk_clt_path_groups[k].name),
			 "rblk-path%u", k);
		rblk_clt_path_groups[k].group.name = rblk_clt_path_groups[k].name;
		rblk_clt_path_groups[k].group.attrs = rblk_clt_path_groups[k].attrs;
	}
}

/**
 * rblk_clt_sysfs_path_group - the attributes of a path
 * @index: number of the path, below RBLK_CLT_PATHS
 *
 * Context: Any.
 * Return: the group, which is there as long as the module is.
 */
const struct attribute_group *rblk_clt_sysfs_path_group(u32 index)
{
	return &rblk_clt_path_groups[index].group;
}
