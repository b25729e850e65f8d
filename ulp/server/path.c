// SPDX-License-Identifier: GPL-2.0
/*
 * Paths at the server: from the first connection to the last.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include "server.h"

LIST_HEAD(rblk_srv_paths);
DEFINE_SPINLOCK(rblk_srv_state);
static u32 rblk_srv_nr_paths;

static const u8 rblk_srv_path_allowed[] = {
	[RBLK_SRV_BUILDING]	= BIT(RBLK_SRV_READY) | BIT(RBLK_SRV_ENDING),
	[RBLK_SRV_READY]	= BIT(RBLK_SRV_ENDING),
	[RBLK_SRV_ENDING]	= 0,
};

/**
 * rblk_srv_path_state - change the state of a path
 * @path: the path
 * @to: the new state
 *
 * Context: Any. Does not sleep.
 * Return: whether it was changed; who gets true has the work that follows.
 */
bool rblk_srv_path_state(struct rblk_srv_path *path, enum rblk_srv_path_state to)
{
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&rblk_srv_state, flags);
	changed = rblk_srv_path_allowed[path->state] & BIT(to);
	if (changed)
		WRITE_ONCE(path->state, to);
	spin_unlock_irqrestore(&rblk_srv_state, flags);
	return changed;
}

/**
 * rblk_srv_path_error - a path is broken, or is to end
 * @path: the path
 * @err: negative errno
 * @what: what happened, a constant string
 *
 * The one place through which a path ends, however many reasons come at once.
 *
 * Context: Any. Does not sleep.
 */
void rblk_srv_path_error(struct rblk_srv_path *path, int err, const char *what)
{
	if (!rblk_srv_path_state(path, RBLK_SRV_ENDING))
		return;
	/* That a client goes is no news; what else ends a path is. */
	if (err != -ECONNRESET && err != -ESHUTDOWN)
		pr_warn_ratelimited("rblk: a path of client %s ends: %s\n",
				    path->session ? path->session->client : "(unknown)", what);
	queue_work(rblk_srv_end_wq, &path->end_work);
}

/**
 * rblk_srv_path_dev_removed - the device of a path goes away
 * @user: the path as a user of the device
 *
 * Context: Atomic.
 */
void rblk_srv_path_dev_removed(struct rblk_dev_user *user)
{
	rblk_srv_path_error(container_of(user, struct rblk_srv_path, dev_user), -ENODEV,
			    "the RDMA device went away");
}

static void rblk_srv_path_release(struct kref *ref)
{
	struct rblk_srv_path *path = container_of(ref, struct rblk_srv_path, ref);

	xa_destroy(&path->disks);
	kfree(path->queues);
	kfree(path);
}

/**
 * rblk_srv_path_put - give a reference back
 * @path: the path
 *
 * Context: Any.
 */
void rblk_srv_path_put(struct rblk_srv_path *path)
{
	kref_put(&path->ref, rblk_srv_path_release);
}

/* What the client can reach. Bounded, but for a disk that does not give back what it has. */
static void rblk_srv_path_cut(struct rblk_srv_path *path)
{
	u32 i;

	for (i = 0; i < path->nr_queues; i++)
		rblk_conn_cut(&path->queues[i].conn);
	rblk_srv_disk_queues_cut(path);
	rblk_conn_cut(&path->control);
	/* Who waits for the end of it must not see a write of it later. */
	rblk_srv_disk_queues_idle(path);
	/* No queue pair is left that could use a key: now the keys may go. */
	rblk_srv_close_all(path);
	if (path->pd)
		ib_dealloc_pd(path->pd);
	path->pd = NULL;
}

/* The rest, which waits for the CM. */
static void rblk_srv_path_teardown(struct rblk_srv_path *path)
{
	u32 i;

	for (i = 0; i < path->nr_queues; i++)
		rblk_conn_destroy(&path->queues[i].conn);
	rblk_srv_disk_queues_destroy(path);
	rblk_conn_destroy(&path->control);
	path->dev = NULL;
	rblk_dev_leave(&path->dev_user);
}

static void rblk_srv_path_end_work(struct work_struct *work)
{
	struct rblk_srv_path *path = container_of(work, struct rblk_srv_path, end_work);

	rblk_fault_work_begin(RBLK_FAULT_WORK_END);
	/* A registration that hangs in the device holds up nothing. */
	rblk_conn_abort(&path->control, -ENOTCONN, "the path ends");
	/* No message is taken any more, and none that waits is looked at. */
	spin_lock_irq(&path->rx_lock);
	path->rx_closed = true;
	spin_unlock_irq(&path->rx_lock);
	cancel_work_sync(&path->rx_work);
	cancel_delayed_work_sync(&path->ping_work);

	mutex_lock(&path->lock);
	rblk_srv_path_cut(path);
	mutex_unlock(&path->lock);

	rblk_srv_session_leave(path);
	mutex_lock(&rblk_srv_lock);
	list_del(&path->entry);
	mutex_unlock(&rblk_srv_lock);
	/* The client has no rights any more: nobody need wait for the CM. */
	complete_all(&path->ended);
	queue_work(rblk_srv_rest_wq, &path->rest_work);
	rblk_fault_work_end(RBLK_FAULT_WORK_END);
}

/* A work of its own: however many wait for the CM of a link that is down, other paths end. */
static void rblk_srv_path_rest_work(struct work_struct *work)
{
	struct rblk_srv_path *path = container_of(work, struct rblk_srv_path, rest_work);

	mutex_lock(&path->lock);
	rblk_srv_path_teardown(path);
	mutex_unlock(&path->lock);
	mutex_lock(&rblk_srv_lock);
	rblk_srv_nr_paths--;
	mutex_unlock(&rblk_srv_lock);
	rblk_srv_path_put(path);
}

/* Reap a path that is not ready in time; see whether the client of another lives. */
static void rblk_srv_path_ping_work(struct work_struct *work)
{
	struct rblk_srv_path *path = container_of(work, struct rblk_srv_path, ping_work.work);
	const struct rblk_msg ping = { .type = RBLK_MSG_PING };
	long left = READ_ONCE(path->build_by) - jiffies;
	int err = 0;

	if (READ_ONCE(path->state) == RBLK_SRV_BUILDING) {
		if (left > 0)
			queue_delayed_work(rblk_srv_wq, &path->ping_work, left);
		else
			rblk_srv_path_error(path, -ETIMEDOUT,
					    "its set-up was not finished in time");
		return;
	}
	/* An open may take long: then nobody pings, and no place among the works is taken. */
	if (!mutex_trylock(&path->lock)) {
		queue_delayed_work(rblk_srv_wq, &path->ping_work, RBLK_SRV_PING_AGAIN);
		return;
	}
	/*
	 * The client's device acknowledges it, or the queue pair fails. A device whose
	 * node hangs takes messages as long as it has receives: all buffers on their
	 * way means that several periods went by. On iWARP only the local TCP
	 * acknowledges, so there the client answers.
	 */
	rblk_fault_work_begin(RBLK_FAULT_WORK_PING);
	/* Where the old is let live beside the new, it must not find out that it is dead. */
	if (READ_ONCE(path->state) == RBLK_SRV_READY && !rblk_fault_unfenced()) {
		err = rblk_conn_send(&path->control, &ping);
		/* Counted and not timed: this work may be late, which is no fault of the client. */
		if (path->dev->caps.iwarp && path->unheard > RBLK_SRV_SILENCE)
			err = -ETIMEDOUT;
		WRITE_ONCE(path->unheard, path->unheard + 1);
	}
	mutex_unlock(&path->lock);
	rblk_fault_work_end(RBLK_FAULT_WORK_PING);
	if (err) {
		rblk_srv_path_error(path, -ETIMEDOUT, "the client takes no messages");
		return;
	}
	rblk_srv_resize_again(path);
	queue_delayed_work(rblk_srv_wq, &path->ping_work, RBLK_SRV_PING_PERIOD);
}

/**
 * rblk_srv_path_find - find a path
 * @session: id of its session
 * @index: its number there
 *
 * Context: Process context. The caller holds rblk_srv_lock.
 * Return: the path with a reference, or NULL.
 */
struct rblk_srv_path *rblk_srv_path_find(const uuid_t *session, u16 index)
{
	struct rblk_srv_path *path;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry) {
		if (path->index == index && uuid_equal(&path->session_id, session)) {
			kref_get(&path->ref);
			return path;
		}
	}
	return NULL;
}

/**
 * rblk_srv_path_create - make a path for a client's control connection
 * @req: what the client said
 *
 * Context: Process context. Sleeps.
 * Return: the path with a reference, in the list, its clock running; or ERR_PTR():
 * -EEXIST, -ESTALE, -EUSERS or -ENOMEM.
 */
struct rblk_srv_path *rblk_srv_path_create(const struct rblk_req *req)
{
	struct rblk_srv_path *path, *other;
	int err = 0;

	path = kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return ERR_PTR(-ENOMEM);
	kref_init(&path->ref);
	path->session_id = req->session;
	path->index = req->path;
	path->generation = req->generation;
	path->state = RBLK_SRV_BUILDING;
	path->dev_user.removed = rblk_srv_path_dev_removed;
	mutex_init(&path->lock);
	spin_lock_init(&path->rx_lock);
	INIT_LIST_HEAD(&path->opens);
	xa_init(&path->disks);
	INIT_LIST_HEAD(&path->rx);
	INIT_LIST_HEAD(&path->session_entry);
	INIT_WORK(&path->rx_work, rblk_srv_rx_work);
	INIT_WORK(&path->end_work, rblk_srv_path_end_work);
	INIT_WORK(&path->rest_work, rblk_srv_path_rest_work);
	INIT_DELAYED_WORK(&path->ping_work, rblk_srv_path_ping_work);
	init_completion(&path->ended);
	rblk_conn_init(&path->control, &rblk_srv_control_ops);

	mutex_lock(&rblk_srv_lock);
	other = rblk_srv_path_find(&req->session, req->path);
	if (other)
		rblk_srv_path_put(other);
	if (other && !rblk_fault_unfenced()) {
		err = -EEXIST;
	} else if (rblk_srv_fenced(req)) {
		err = -ESTALE;
	} else if (rblk_srv_nr_paths >= RBLK_SRV_PATHS_MAX) {
		err = -EUSERS;
	} else {
		kref_get(&path->ref);
		/* Where an older one is still there, this is the one to be found. */
		list_add(&path->entry, &rblk_srv_paths);
		rblk_srv_nr_paths++;
		path->build_by = jiffies + RBLK_SRV_BUILD_TIMEOUT;
		queue_delayed_work(rblk_srv_wq, &path->ping_work, RBLK_SRV_BUILD_TIMEOUT);
	}
	mutex_unlock(&rblk_srv_lock);
	if (err) {
		rblk_srv_path_put(path);
		return ERR_PTR(err);
	}
	return path;
}

/**
 * rblk_srv_path_end - wait until a path has ended
 * @path: the path, for which rblk_srv_path_error() was called; a reference
 *
 * Context: Process context. Sleeps, as long as the tear-down takes, which is
 * bounded. The caller holds no lock of ours.
 */
void rblk_srv_path_end(struct rblk_srv_path *path)
{
	wait_for_completion(&path->ended);
}

/**
 * rblk_srv_paths_stop - begin to end all paths, for module unload
 *
 * All at once: one that hangs on a dead peer delays no other.
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_srv_paths_stop(void)
{
	struct rblk_srv_path *path;

	mutex_lock(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry)
		rblk_srv_path_error(path, -ESHUTDOWN, "the server is unloaded");
	mutex_unlock(&rblk_srv_lock);
}

/**
 * rblk_srv_path_end_all - end all paths, for module unload
 *
 * Context: Process context. Sleeps. No new path comes.
 */
void rblk_srv_path_end_all(void)
{
	struct rblk_srv_path *path;

	rblk_srv_paths_stop();
	for (;;) {
		mutex_lock(&rblk_srv_lock);
		path = list_first_entry_or_null(&rblk_srv_paths, struct rblk_srv_path, entry);
		if (path)
			kref_get(&path->ref);
		mutex_unlock(&rblk_srv_lock);
		if (!path)
			break;
		rblk_srv_path_end(path);
		rblk_srv_path_put(path);
	}
}
