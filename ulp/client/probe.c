// SPDX-License-Identifier: GPL-2.0
/*
 * Paths that stand by carry nothing, and so would be found dead only when they are needed. A
 * message now and then, which the server drops, breaks one whose server does not acknowledge it.
 */
#include <linux/sched/mm.h>
#include "client.h"

/* Return: whether it stands by. */
static bool rblk_clt_probe(struct rblk_clt_path *path)
{
	const struct rblk_msg ping = { .type = RBLK_MSG_PING };
	struct rblk_clt_session *session = path->session;
	struct rblk_conn *conn = &path->control.conn;
	u32 generation = 0;
	int err = 0;

	spin_lock_irq(&session->lock);
	if (path->state == RBLK_PATH_LIVE && session->active != path->index)
		generation = path->generation;
	spin_unlock_irq(&session->lock);
	if (!generation)
		return false;
	/* Whoever holds it waits for the server already, or destroys the connection. */
	if (!mutex_trylock(&path->control.ask_lock))
		return true;
	if (path->generation == generation && conn->qp && !READ_ONCE(conn->error))
		err = rblk_conn_send(conn, &ping);
	mutex_unlock(&path->control.ask_lock);
	if (err)
		rblk_clt_path_error_of(path, generation, -ETIMEDOUT,
				       "the server takes no messages");
	return true;
}

/**
 * rblk_clt_probe_work - see whether the paths that stand by are alive
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

	for (i = 0; i < session->nr_paths; i++)
		again |= rblk_clt_probe(&session->paths[i]);
	memalloc_noio_restore(noio);
	if (again)
		queue_delayed_work(rblk_clt_wq, &session->probe_work, RBLK_CLT_PROBE_PERIOD);
}
