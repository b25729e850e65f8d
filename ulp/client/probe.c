// SPDX-License-Identifier: GPL-2.0
/*
 * A path that carries nothing would be found dead only when it is needed: one that stands by,
 * and the active one while nobody reads or writes. So each is probed now and then. What
 * carries I/O is too, which does no harm: its own requests would break it no later.
 *
 * Not where a path that is lost stays lost: there nothing could be done about what a probe
 * finds. So it is over iWARP, where it would find nothing, being acknowledged by the TCP here.
 */
#include <linux/sched/mm.h>
#include "client.h"

/* Return: whether to come again. */
static bool rblk_clt_probe(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_conn *conn = &path->control.conn;
	u32 generation = 0;
	int err = 0;

	spin_lock_irq(&session->lock);
	if (path->state == RBLK_PATH_LIVE && session->reconnect)
		generation = path->generation;
	spin_unlock_irq(&session->lock);
	if (!generation)
		return false;
	/* Whoever holds it waits for the server already, or destroys the connection. */
	if (!mutex_trylock(&path->control.ask_lock))
		return true;
	if (path->generation == generation && conn->qp && !READ_ONCE(conn->error))
		err = rblk_conn_probe(conn);
	mutex_unlock(&path->control.ask_lock);
	if (err)
		rblk_clt_path_error_of(path, generation, err, "a probe could not be posted");
	return true;
}

/**
 * rblk_clt_path_answers - probe a path, and wait for what comes of it
 * @path: the path
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: true if it is live, and the server's device acknowledged the probe.
 */
bool rblk_clt_path_answers(struct rblk_clt_path *path)
{
	struct rblk_conn *conn = &path->control.conn;
	bool answers = false;

	mutex_lock(&path->control.ask_lock);
	if (READ_ONCE(path->state) == RBLK_PATH_LIVE && conn->qp && !READ_ONCE(conn->error) &&
	    !rblk_conn_probe(conn))
		answers = wait_event_timeout(conn->wait, !test_bit(0, &conn->probing) ||
					     READ_ONCE(conn->error), RBLK_CLT_ASK_TIMEOUT) &&
			  !READ_ONCE(conn->error);
	mutex_unlock(&path->control.ask_lock);
	return answers;
}

/**
 * rblk_clt_probe_work - see whether the paths of a session are alive
 * @work: the session's
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_probe_work(struct work_struct *work)
{
	struct rblk_clt_session *session =
		container_of(work, struct rblk_clt_session, probe_work.work);
	unsigned int noio = memalloc_noio_save();
	bool again = false;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		again |= rblk_clt_probe(&session->paths[i]);
	rblk_clt_active_relieve(session);
	memalloc_noio_restore(noio);
	if (again)
		queue_delayed_work(rblk_clt_wq, &session->probe_work, RBLK_CLT_PROBE_PERIOD);
}
