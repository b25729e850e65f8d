// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: addresses where clients connect.
 *
 * A listener stays when its address or its device is missing, at first or later,
 * and tries again by itself: when a device comes, and every few seconds.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rblk/fault.h>
#include "server.h"

#define RBLK_SRV_BACKLOG	64
#define RBLK_SRV_LISTEN_RETRY	(2 * HZ)
#define RBLK_SRV_LISTEN_CHECK	(10 * HZ)

/**
 * struct rblk_srv_listener - an address
 * @entry: in the list of listeners
 * @addr: address and port
 * @lock: protects the fields below; no CM handler takes it
 * @id: CM id, NULL while it waits
 * @err: why it waits, negative errno
 * @closed: it goes away: @id is not made new any more
 * @broken: set by the CM handler: @id is of no use any more
 * @work: makes @id new
 */
struct rblk_srv_listener {
	struct list_head	entry;
	struct sockaddr_storage	addr;
	struct mutex		lock;	/* protects the fields below */
	struct rdma_cm_id	*id;
	int			err;
	bool			closed;
	bool			broken;
	struct delayed_work	work;
};

static LIST_HEAD(rblk_srv_listeners);
static u32 rblk_srv_nr_listeners;

static int rblk_srv_listener_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rblk_srv_listener *listener = id->context;

	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return rblk_srv_connect_request(id, ev);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* The id cannot be destroyed from here. */
		WRITE_ONCE(listener->broken, true);
		mod_delayed_work(rblk_srv_listen_wq, &listener->work, 0);
		return 0;
	default:
		return 0;
	}
}

static const char *rblk_srv_listen_text(int err)
{
	switch (err) {
	case 0:
		return NULL;
	case -EADDRNOTAVAIL:
		return "no interface has the address";
	case -ENODEV:
		return "no RDMA device has the address";
	case -EADDRINUSE:
		return "the port is in use";
	default:
		return "the address cannot be listened on";
	}
}

static void rblk_srv_listener_close(struct rblk_srv_listener *listener)
{
	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
}

static int rblk_srv_listener_open(struct rblk_srv_listener *listener)
{
	struct sockaddr *addr = (struct sockaddr *)&listener->addr;
	struct rdma_cm_id *id;
	int err;

	lockdep_assert_held(&listener->lock);
	WRITE_ONCE(listener->broken, false);
	err = rblk_fault(RBLK_FAULT_LISTEN);
	if (err)
		return err;
	id = rdma_create_id(&init_net, rblk_srv_listener_event, listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	/* The wildcard of IPv6 takes IPv4 too, as a socket's does. */
	err = rdma_set_afonly(id, !rblk_addr_wildcard(&listener->addr));
	if (!err)
		err = rdma_bind_addr(id, addr);
	if (!err)
		err = rdma_listen(id, RBLK_SRV_BACKLOG);
	if (err) {
		rdma_destroy_id(id);
		return err;
	}
	listener->id = id;
	return 0;
}

static void rblk_srv_listener_fill(struct rblk_srv_listener *listener,
				   struct rblk_srv_listener_info *info)
{
	memset(info, 0, sizeof(*info));
	info->addr = listener->addr;
	mutex_lock(&listener->lock);
	info->listening = listener->id && !READ_ONCE(listener->broken);
	info->error = rblk_srv_listen_text(listener->err);
	if (info->listening && listener->id->device)
		strscpy(info->rdma_device, listener->id->device->name, sizeof(info->rdma_device));
	mutex_unlock(&listener->lock);
}

static void rblk_srv_listener_notify(struct rblk_srv_listener *listener)
{
	struct rblk_srv_listener_info info;

	rblk_srv_listener_fill(listener, &info);
	rblk_srv_notify_listener(&info);
}

static int rblk_srv_probe_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	return 0;
}

/*
 * The CM says nothing when an address moves to another device, and the id goes on
 * listening on the old one, where no request comes any more.
 */
static bool rblk_srv_listener_moved(struct rblk_srv_listener *listener)
{
	struct sockaddr_storage addr = listener->addr;
	struct rdma_cm_id *id;
	bool moved;

	lockdep_assert_held(&listener->lock);
	if (!listener->id || rblk_addr_wildcard(&addr))
		return false;
	rblk_addr_set_port(&addr, 0);
	id = rdma_create_id(&init_net, rblk_srv_probe_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return false;
	/* An address that is nowhere may come back to where it was. */
	moved = !rdma_bind_addr(id, (struct sockaddr *)&addr) &&
		(id->device != listener->id->device ||
		 id->route.addr.dev_addr.bound_dev_if !=
		 listener->id->route.addr.dev_addr.bound_dev_if);
	rdma_destroy_id(id);
	return moved;
}

static void rblk_srv_listener_work(struct work_struct *work)
{
	struct rblk_srv_listener *listener =
		container_of(work, struct rblk_srv_listener, work.work);
	bool changed = false, closed;
	int err = 0;

	rblk_fault_work_begin(RBLK_FAULT_WORK_LISTEN);
	mutex_lock(&listener->lock);
	if (READ_ONCE(listener->broken) || rblk_srv_listener_moved(listener)) {
		rblk_srv_listener_close(listener);
		changed = true;
	}
	if (!listener->id && !listener->closed) {
		err = rblk_srv_listener_open(listener);
		changed |= err != listener->err;
		listener->err = err;
	}
	closed = listener->closed;
	mutex_unlock(&listener->lock);
	if (!closed)
		queue_delayed_work(rblk_srv_listen_wq, &listener->work,
				   err ? RBLK_SRV_LISTEN_RETRY : RBLK_SRV_LISTEN_CHECK);
	if (changed) {
		mutex_lock(&rblk_srv_lock);
		rblk_srv_listener_notify(listener);
		mutex_unlock(&rblk_srv_lock);
	}
	rblk_fault_work_end(RBLK_FAULT_WORK_LISTEN);
}

static struct rblk_srv_listener *rblk_srv_listener_find(const struct sockaddr_storage *addr)
{
	struct rblk_srv_listener *listener;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(listener, &rblk_srv_listeners, entry)
		if (rblk_addr_equal(&listener->addr, addr))
			return listener;
	return NULL;
}

/* Not in the list: no notifier queues the work. The CM may, while there is an id. */
static void rblk_srv_listener_free(struct rblk_srv_listener *listener)
{
	mutex_lock(&listener->lock);
	listener->closed = true;
	rblk_srv_listener_close(listener);
	mutex_unlock(&listener->lock);
	cancel_delayed_work_sync(&listener->work);
	kfree(listener);
}

/*
 * The CM says of both that the address is not available, one that no interface has and
 * one whose port a wildcard has. Only the first is worth waiting for.
 */
static bool rblk_srv_port_taken(const struct sockaddr_storage *addr)
{
	struct rblk_srv_listener *listener;

	lockdep_assert_held(&rblk_srv_lock);
	if (rblk_addr_wildcard(addr))
		return true;
	list_for_each_entry(listener, &rblk_srv_listeners, entry)
		if (rblk_addr_wildcard(&listener->addr) &&
		    rblk_addr_port(&listener->addr) == rblk_addr_port(addr) &&
		    (listener->addr.ss_family == AF_INET6 || addr->ss_family == AF_INET))
			return true;
	return false;
}

/**
 * rblk_srv_listen_add - listen on an address
 * @addr: address and port
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps.
 * Return: 0, also if the address or its device is not there yet; -EEXIST,
 * -EADDRINUSE, -ENOSPC or -ENOMEM.
 */
int rblk_srv_listen_add(const struct sockaddr_storage *addr, struct netlink_ext_ack *extack)
{
	struct rblk_srv_listener *listener;
	int err = 0;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return -ENOMEM;
	listener->addr = *addr;
	mutex_init(&listener->lock);
	INIT_DELAYED_WORK(&listener->work, rblk_srv_listener_work);

	/* Outside the list's lock: the CM has locks of its own. */
	mutex_lock(&listener->lock);
	listener->err = rblk_srv_listener_open(listener);
	mutex_unlock(&listener->lock);

	mutex_lock(&rblk_srv_lock);
	if (rblk_srv_listener_find(addr)) {
		NL_SET_ERR_MSG(extack, "there is a listener on this address already");
		err = -EEXIST;
	} else if (listener->err == -EADDRINUSE ||
		   (listener->err == -EADDRNOTAVAIL && rblk_srv_port_taken(addr))) {
		NL_SET_ERR_MSG(extack, "another listener or program has the port");
		err = -EADDRINUSE;
	} else if (rblk_srv_nr_listeners >= RBLK_SRV_LISTENERS_MAX) {
		NL_SET_ERR_MSG(extack, "there are as many listeners as there can be");
		err = -ENOSPC;
	} else {
		list_add_tail(&listener->entry, &rblk_srv_listeners);
		rblk_srv_changes++;
		rblk_srv_nr_listeners++;
		queue_delayed_work(rblk_srv_listen_wq, &listener->work, RBLK_SRV_LISTEN_RETRY);
		rblk_srv_listener_notify(listener);
	}
	mutex_unlock(&rblk_srv_lock);
	if (err)
		rblk_srv_listener_free(listener);
	return err;
}

/**
 * rblk_srv_listen_remove - stop listening on an address
 * @addr: address and port
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps.
 * Return: 0 or -ENOENT.
 */
int rblk_srv_listen_remove(const struct sockaddr_storage *addr, struct netlink_ext_ack *extack)
{
	struct rblk_srv_listener_info info = { .addr = *addr, .error = "removed" };
	struct rblk_srv_listener *listener;

	mutex_lock(&rblk_srv_lock);
	listener = rblk_srv_listener_find(addr);
	if (listener) {
		list_del(&listener->entry);
		rblk_srv_changes++;
		rblk_srv_nr_listeners--;
	}
	mutex_unlock(&rblk_srv_lock);
	if (!listener) {
		NL_SET_ERR_MSG(extack, "there is no listener on this address");
		return -ENOENT;
	}
	rblk_srv_listener_free(listener);
	mutex_lock(&rblk_srv_lock);
	rblk_srv_notify_listener(&info);
	mutex_unlock(&rblk_srv_lock);
	return 0;
}

/**
 * rblk_srv_listen_remove_all - stop listening, for module unload
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_listen_remove_all(void)
{
	struct rblk_srv_listener *listener;

	for (;;) {
		mutex_lock(&rblk_srv_lock);
		listener = list_first_entry_or_null(&rblk_srv_listeners,
						    struct rblk_srv_listener, entry);
		if (listener) {
			list_del(&listener->entry);
			rblk_srv_nr_listeners--;
		}
		mutex_unlock(&rblk_srv_lock);
		if (!listener)
			break;
		rblk_srv_listener_free(listener);
	}
}

/**
 * rblk_srv_listener_info - facts of a listener
 * @index: its place in the list
 * @info: takes the facts
 *
 * Context: Process context. Sleeps. The caller holds rblk_srv_lock.
 * Return: whether there is one at that place.
 */
bool rblk_srv_listener_info(u32 index, struct rblk_srv_listener_info *info)
{
	struct rblk_srv_listener *listener;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(listener, &rblk_srv_listeners, entry) {
		if (index--)
			continue;
		rblk_srv_listener_fill(listener, info);
		return true;
	}
	return false;
}

static int rblk_srv_dev_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct rblk_srv_listener *listener;

	if (event != RBLK_DEV_ADDED)
		return NOTIFY_DONE;
	mutex_lock(&rblk_srv_lock);
	/* One that listens already is left as it is by the work. */
	list_for_each_entry(listener, &rblk_srv_listeners, entry)
		mod_delayed_work(rblk_srv_listen_wq, &listener->work, HZ / 10);
	mutex_unlock(&rblk_srv_lock);
	return NOTIFY_OK;
}

static struct notifier_block rblk_srv_dev_nb = {
	.notifier_call	= rblk_srv_dev_event,
};

/**
 * rblk_srv_listen_init - begin to watch for devices
 *
 * Context: Module load.
 * Return: 0, or a negative errno.
 */
int rblk_srv_listen_init(void)
{
	return rblk_dev_register_notifier(&rblk_srv_dev_nb);
}

/**
 * rblk_srv_listen_exit - watch for devices no longer
 *
 * Context: Module unload.
 */
void rblk_srv_listen_exit(void)
{
	rblk_dev_unregister_notifier(&rblk_srv_dev_nb);
}
