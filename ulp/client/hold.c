// SPDX-License-Identifier: GPL-2.0
/*
 * I/O that waits for a path.
 *
 * What waits are bios, in a list of their device: those of requests that come while there
 * is no path, and of those that were in flight on the path that was lost. The requests
 * themselves end, so that what waits occupies no tag, which the devices of a session
 * share, and holds up nobody who freezes the queue. When a path is active, and the server
 * has ended all generations that were lost, so that nothing of them can land later, the bios
 * are submitted anew; see fence.c. Where one fails instead, no path stays active until then.
 *
 * Whether I/O of a device may wait is a matter of its flags. Who sets one that forbids it
 * calls rblk_clt_fail_waiting() then: it finds all that began to wait before the flag
 * could be seen, and nothing does afterwards.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"
#include "request.h"

/**
 * rblk_clt_may_wait - does I/O of a device wait while there is no path?
 * @dev: the device
 *
 * Context: Any.
 * Return: true if it waits; otherwise it fails.
 */
bool rblk_clt_may_wait(const struct rblk_clt_device *dev)
{
	unsigned long flags = READ_ONCE(dev->flags);

	/* Not before it is ready: map would wait for the partition scan to end. */
	return READ_ONCE(dev->session->reconnect) && (flags & BIT(RBLK_DEV_READY)) &&
	       !(flags & (BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_REMOVING) |
			  BIT(RBLK_DEV_EXPIRED) | BIT(RBLK_DEV_LOST)));
}

/*
 * What is read ahead the block layer marks as to fail soon when it merges it with something that
 * is not: in all ways, where who wants that himself says in which.
 */
static bool rblk_clt_rq_marked(const struct request *rq)
{
	const struct bio *bio;

	if (!(rq->rq_flags & RQF_MIXED_MERGE))
		return false;
	for (bio = rq->bio; bio; bio = bio->bi_next)
		if (bio->bi_opf & REQ_FAILFAST_TRANSPORT &&
		    (bio->bi_opf & REQ_FAILFAST_MASK) != REQ_FAILFAST_MASK)
			return false;
	return true;
}

/* Whoever has other paths wants to know at once. */
static bool rblk_clt_bio_waits(const struct bio *bio, bool marked)
{
	return !(bio->bi_opf & REQ_FAILFAST_TRANSPORT) || (marked && bio->bi_opf & REQ_RAHEAD);
}

/* Each of its bios for itself. dm has its own in a request of its own, and other paths. */
static bool rblk_clt_rq_waits(const struct request *rq, bool marked)
{
	const struct bio *bio;

	/* What is part of a flush has one of the block layer's, and its bios can come again. */
	if (rq->end_io && (!(rq->rq_flags & RQF_FLUSH_SEQ) || rq->flush.saved_end_io))
		return false;
	for (bio = rq->bio; bio; bio = bio->bi_next)
		if (rblk_clt_bio_waits(bio, marked))
			return true;
	return false;
}

static void rblk_clt_fail_bios(struct rblk_clt_session *session, struct bio_list *bios, bool sent)
{
	bool writes = false;
	struct bio *bio;

	/* Whoever learns of it may write something newer over another path. */
	bio_list_for_each(bio, bios)
		writes |= sent && op_is_write(bio_op(bio));
	if (writes)
		rblk_clt_active_stop(session);
	while ((bio = bio_list_pop(bios))) {
		bio->bi_status = BLK_STS_TRANSPORT;
		bio_endio(bio);
	}
}

/**
 * rblk_clt_wait - let what a request was for wait for a path
 * @rq: the request, started, not in flight and not mapped for DMA
 * @sent: it was in flight
 *
 * Context: Any; queue_rq calls it in the RCU read section in which it looked at the path.
 * Return: true, and the request is empty and has to be ended without an error: what of it is
 * not to wait has failed. False if its device does not wait, or nobody who sent it.
 */
bool rblk_clt_wait(struct request *rq, bool sent)
{
	struct rblk_clt_device *dev = rblk_clt_rq_device(rq);
	bool marked = rblk_clt_rq_marked(rq);
	struct bio_list all = BIO_EMPTY_LIST, failed = BIO_EMPTY_LIST;
	unsigned long flags;
	struct bio *bio;
	bool wait;

	if (!rblk_clt_rq_waits(rq, marked))
		return false;
	/* Under the lock: who forbids it takes the lock next. */
	spin_lock_irqsave(&dev->wait_lock, flags);
	wait = rblk_clt_may_wait(dev);
	if (wait)
		blk_steal_bios(&all, rq);
	while ((bio = bio_list_pop(&all))) {
		if (!rblk_clt_bio_waits(bio, marked)) {
			bio_list_add(&failed, bio);
			continue;
		}
		/* Who cannot wait for a tag has waited for a path already. */
		bio->bi_opf &= ~REQ_NOWAIT;
		if (marked && bio->bi_opf & REQ_RAHEAD)
			bio->bi_opf &= ~REQ_FAILFAST_MASK;
		bio_list_add(&dev->waiting, bio);
	}
	spin_unlock_irqrestore(&dev->wait_lock, flags);
	rblk_clt_fail_bios(dev->session, &failed, sent);
	return wait;
}

/**
 * rblk_clt_flush_waits - let a flush wait for a path
 * @rq: the request, not in flight; nothing is done unless it is a flush of the block layer
 *
 * It has no bios that could wait in its place: those who want it wait for this very request,
 * one for each device and queue. It keeps its tag no more than they do, and comes to queue_rq
 * again when the device goes on or fails, or before; then it finds no path and waits again.
 *
 * Context: Any; as of rblk_clt_wait().
 * Return: true, and it is not the caller's any more.
 */
bool rblk_clt_flush_waits(struct request *rq)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_device *dev = rblk_clt_rq_device(rq);
	unsigned long flags;
	bool wait;

	/* dm has its own in a request of its own, and whoever has other paths does not wait. */
	if (req_op(rq) != REQ_OP_FLUSH || rq->bio || !(rq->rq_flags & RQF_FLUSH_SEQ) ||
	    rq->cmd_flags & REQ_FAILFAST_TRANSPORT)
		return false;
	/* Under the lock: who forbids it takes the lock next. */
	spin_lock_irqsave(&dev->wait_lock, flags);
	wait = rblk_clt_may_wait(dev);
	if (wait) {
		req->held = true;
		dev->flushes++;
		blk_mq_requeue_request(rq, false);
	}
	spin_unlock_irqrestore(&dev->wait_lock, flags);
	return wait;
}

/**
 * rblk_clt_flush_comes - a flush that waited is in queue_rq again
 * @rq: the request; nothing is done if it did not wait
 *
 * Context: queue_rq. Does not sleep.
 */
void rblk_clt_flush_comes(struct request *rq)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_device *dev = rblk_clt_rq_device(rq);
	unsigned long flags;

	spin_lock_irqsave(&dev->wait_lock, flags);
	if (req->held)
		dev->flushes--;
	req->held = false;
	spin_unlock_irqrestore(&dev->wait_lock, flags);
}

/* Those that wait come to queue_rq again. As long as there is one, so is the disk. */
static void rblk_clt_flushes_kick(struct rblk_clt_device *dev)
{
	lockdep_assert_held(&dev->wait_lock);
	if (dev->flushes)
		blk_mq_kick_requeue_list(dev->disk->queue);
}

/* The caller saw a grace period since the flag was set that forbids to wait. */
static void rblk_clt_end_waiting(struct rblk_clt_device *dev)
{
	struct bio_list bios = BIO_EMPTY_LIST;

	spin_lock_irq(&dev->wait_lock);
	/* The path may have come back: then it goes on. */
	if (!rblk_clt_may_wait(dev)) {
		bio_list_merge(&bios, &dev->waiting);
		bio_list_init(&dev->waiting);
		rblk_clt_flushes_kick(dev);
	}
	spin_unlock_irq(&dev->wait_lock);
	rblk_clt_fail_bios(dev->session, &bios, true);
}

/**
 * rblk_clt_fail_waiting - fail what waits of a device that does not wait any more
 * @dev: the device, with a flag that says so
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_fail_waiting(struct rblk_clt_device *dev)
{
	/* Whoever saw the flags as they were has put its bios into the list now. */
	synchronize_rcu();
	rblk_clt_end_waiting(dev);
}

/**
 * rblk_clt_submit_work - submit anew what waited
 * @work: the device's
 *
 * Context: Process context. Sleeps until there are tags: on a workqueue of its own, for
 * what it waits for may be ended by the work that deals with the next loss.
 */
void rblk_clt_submit_work(struct work_struct *work)
{
	struct rblk_clt_device *dev = container_of(work, struct rblk_clt_device, submit_work);
	struct rblk_clt_session *session = dev->session;
	struct bio_list bios = BIO_EMPTY_LIST;
	struct blk_plug plug;
	struct bio *bio;

	/*
	 * What was in flight on a path comes into the list after its loss, so that with nothing
	 * to be ended nothing in the list can land any more. Who ends the last one comes here.
	 */
	spin_lock_irq(&session->lock);
	if (!rblk_clt_fence_pending(session)) {
		spin_lock(&dev->wait_lock);
		bio_list_merge(&bios, &dev->waiting);
		bio_list_init(&dev->waiting);
		rblk_clt_flushes_kick(dev);
		spin_unlock(&dev->wait_lock);
	}
	spin_unlock_irq(&session->lock);
	/* What was one request may be one again. */
	blk_start_plug(&plug);
	while ((bio = bio_list_pop(&bios)))
		submit_bio_noacct(bio);
	blk_finish_plug(&plug);
}

static unsigned long rblk_clt_no_path_until(const struct rblk_clt_device *dev, u32 ms)
{
	return READ_ONCE(dev->lost_at) + msecs_to_jiffies(ms);
}

static void rblk_clt_no_path_arm(struct rblk_clt_device *dev, u32 ms)
{
	long left = rblk_clt_no_path_until(dev, ms) - jiffies;

	if (ms == RBLK_CLT_FOR_EVER)
		cancel_delayed_work(&dev->no_path_work);
	else
		mod_delayed_work(rblk_clt_wq, &dev->no_path_work, max(left, 0L));
}

/**
 * rblk_clt_attached - is a device open on what a path is now?
 * @dev: the device
 * @path: the path
 *
 * Context: Any.
 * Return: true if so, with keys to all of it; then they may be used, as long as the path is
 * live.
 */
bool rblk_clt_attached(const struct rblk_clt_device *dev, const struct rblk_clt_path *path)
{
	const struct rblk_clt_attach *attach = &dev->attach[path->index];
	u64 size = READ_ONCE(dev->ext.size);
	const struct rblk_clt_keys *keys;
	bool enough;

	/* Pairs with rblk_clt_size_set(): some path had the keys before. */
	smp_rmb();
	/* Pairs with the release in rblk_clt_attach(): the keys were written before. */
	if (smp_load_acquire(&attach->generation) != READ_ONCE(path->generation))
		return false;
	rcu_read_lock();
	keys = rcu_dereference(attach->keys);
	enough = keys && keys->ext.size >= size;
	rcu_read_unlock();
	return enough;
}

/* Return: of the active paths those where I/O of a device may be posted, a bit for each. */
static unsigned long rblk_clt_paths_of(const struct rblk_clt_device *dev)
{
	const struct rblk_clt_session *session = dev->session;
	unsigned long active = READ_ONCE(session->active), able = active;
	const struct rblk_clt_path *path;
	u32 i;

	for_each_set_bit(i, &active, RBLK_CLT_PATHS) {
		path = &session->paths[i];
		/* Pairs with rblk_clt_path_state(): its queues were there before. */
		if (unlikely(smp_load_acquire(&path->state) != RBLK_PATH_LIVE ||
			     !rblk_clt_attached(dev, path)))
			able &= ~BIT(i);
	}
	return able;
}

/**
 * rblk_clt_path_of - where I/O of a device may be posted
 * @dev: the device
 *
 * Context: Any. It may change at any time unless the session's lock is held.
 * Return: an active path on which the device is open, or NULL.
 */
struct rblk_clt_path *rblk_clt_path_of(struct rblk_clt_device *dev)
{
	unsigned long able = rblk_clt_paths_of(dev);

	return able ? &dev->session->paths[__ffs(able)] : NULL;
}

/**
 * rblk_clt_path_for - where a request is to be posted
 * @dev: its device
 * @queue: its hardware queue
 *
 * Context: Any, in the RCU read section in which it is posted.
 * Return: an active path on which the device is open, by the session's policy, or NULL.
 */
struct rblk_clt_path *rblk_clt_path_for(struct rblk_clt_device *dev, u32 queue)
{
	struct rblk_clt_session *session = dev->session;
	unsigned long able = rblk_clt_paths_of(dev);
	struct rblk_clt_stats *stats = &dev->stats[queue];
	struct rblk_load load[RBLK_CLT_PATHS];
	u32 i, turn;

	if (likely(!(able & (able - 1))))
		return able ? &session->paths[__ffs(able)] : NULL;
	for_each_set_bit(i, &able, RBLK_CLT_PATHS) {
		load[i].in_flight = atomic_read(&session->paths[i].queues[queue].in_flight);
		load[i].latency_ns = READ_ONCE(session->paths[i].stats[queue].latency_ns);
	}
	turn = READ_ONCE(stats->turn);
	WRITE_ONCE(stats->turn, turn + 1);
	return &session->paths[rblk_policy_pick(READ_ONCE(session->policy), able, turn, load)];
}

/**
 * rblk_clt_no_path_set - say how long I/O of a device waits for a path
 * @dev: the device
 * @ms: so long, from when the path was lost; RBLK_CLT_FOR_EVER has no end
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_no_path_set(struct rblk_clt_device *dev, u32 ms)
{
	lockdep_assert_held(&rblk_clt_lock);
	WRITE_ONCE(dev->no_path_ms, ms);
	if (!list_empty(&dev->entry) && rblk_clt_may_wait(dev) && !rblk_clt_path_of(dev))
		rblk_clt_no_path_arm(dev, ms);
}

/**
 * rblk_clt_no_path_work - a device has been without a path for as long as it may
 * @work: the device's
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_no_path_work(struct work_struct *work)
{
	struct rblk_clt_device *dev =
		container_of(work, struct rblk_clt_device, no_path_work.work);
	struct rblk_clt_session *session = dev->session;
	u32 ms = READ_ONCE(dev->no_path_ms);
	bool expired;

	spin_lock_irq(&session->lock);
	/* The path may have come back, and gone again, since the clock ran out. */
	expired = !rblk_clt_path_of(dev) && ms != RBLK_CLT_FOR_EVER &&
		  !time_before(jiffies, rblk_clt_no_path_until(dev, ms)) &&
		  !test_and_set_bit(RBLK_DEV_EXPIRED, &dev->flags);
	spin_unlock_irq(&session->lock);
	if (!expired)
		return;
	rblk_clt_fail_waiting(dev);
	pr_warn_ratelimited("rblk%u: no connection to the server for %u ms, I/O fails until there is one\n",
			    dev->index, ms);
	mutex_lock(&rblk_clt_lock);
	if (!list_empty(&dev->entry))
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	mutex_unlock(&rblk_clt_lock);
}

static bool rblk_clt_any_live(const struct rblk_clt_session *session)
{
	const struct rblk_clt_path *path;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		path = &session->paths[i];
		if (READ_ONCE(path->state) == RBLK_PATH_LIVE && !READ_ONCE(path->drained))
			return true;
	}
	return false;
}

static u64 rblk_clt_requests_done(const struct rblk_clt_device *dev)
{
	u64 done = 0;
	u32 i;

	for (i = 0; i < dev->nr_queues; i++)
		done += READ_ONCE(dev->stats[i].reads) + READ_ONCE(dev->stats[i].writes);
	return done;
}

/**
 * rblk_clt_path_lost - let the time run for a device without a path
 * @dev: the device
 * @when: it had the last one, in jiffies
 *
 * A path that comes up and serves nothing of what waits is none: then the time runs on
 * from the loss before.
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_path_lost(struct rblk_clt_device *dev, unsigned long when)
{
	u32 ms = READ_ONCE(dev->no_path_ms);

	lockdep_assert_held(&rblk_clt_lock);
	/* Its turn comes when it is ready. */
	if (!test_bit(RBLK_DEV_READY, &dev->flags))
		return;
	if (dev->was_back && (!dev->was_waiting || rblk_clt_requests_done(dev) != dev->was_done))
		WRITE_ONCE(dev->lost_at, when);
	dev->was_back = false;
	/* No failure where the next path is only being asked. */
	if (rblk_clt_any_live(dev->session))
		ms = max_t(u32, ms, RBLK_CLT_FAILOVER_MS);
	if (ms && rblk_clt_may_wait(dev))
		rblk_clt_no_path_arm(dev, ms);
	else
		set_bit(RBLK_DEV_EXPIRED, &dev->flags);
}

/**
 * rblk_clt_paths_lost - let the time run for the devices of a session without a path
 * @session: the session
 * @when: it lost one, in jiffies
 *
 * Context: Process context. Sleeps, not for a peer. The caller holds rblk_clt_lock.
 */
void rblk_clt_paths_lost(struct rblk_clt_session *session, unsigned long when)
{
	struct rblk_clt_device *dev;

	lockdep_assert_held(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session && !rblk_clt_path_of(dev))
			rblk_clt_path_lost(dev, when);
	/* What came before it was known that it fails. What was in flight is not here yet. */
	synchronize_rcu();
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session)
			rblk_clt_end_waiting(dev);
}

/**
 * rblk_clt_device_back - let a device go on that has a path again
 * @dev: the device; it was so for a grace period
 *
 * It may have had none for so short a time that its clock was not set.
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_device_back(struct rblk_clt_device *dev)
{
	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&dev->wait_lock);
	/* The second time for one loss: what was in flight may have come to the rest since. */
	if (!dev->was_back)
		dev->was_waiting = false;
	dev->was_waiting |= !bio_list_empty(&dev->waiting) || dev->flushes;
	spin_unlock_irq(&dev->wait_lock);
	if (dev->was_back)
		goto submit;
	dev->was_done = rblk_clt_requests_done(dev);
	dev->was_back = true;
	cancel_delayed_work(&dev->no_path_work);
	pr_info_ratelimited("rblk%u: the connection to the server is back after %u ms\n",
			    dev->index,
			    jiffies_to_msecs(jiffies - dev->lost_at));
submit:
	queue_work(rblk_clt_submit_wq, &dev->submit_work);
}
