// SPDX-License-Identifier: GPL-2.0
/* Sessions at the server: which paths belong to one client, and who ends them. */
#include <linux/slab.h>
#include <rblk/fault.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

/* How often a path that waits looks whether it ends itself. */
#define RBLK_SRV_FENCE_LOOK	(HZ / 20)

LIST_HEAD(rblk_srv_sessions);

static struct rblk_srv_session *rblk_srv_session_find(const uuid_t *id)
{
	struct rblk_srv_session *session;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(session, &rblk_srv_sessions, entry)
		if (uuid_equal(&session->id, id))
			return session;
	return NULL;
}

/**
 * rblk_srv_session_join - put a path into its session, which is made if need be
 * @path: the path, in no session yet
 * @client: what the client calls itself
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK; RBLK_DENIED if the session is another client's; or
 * RBLK_NO_MEMORY.
 */
enum rblk_status rblk_srv_session_join(struct rblk_srv_path *path, const char *client)
{
	struct rblk_srv_session *session, *fresh;
	u8 cmd = RBLK_SERVER_CMD_SESSION_CHANGE_NTF;
	enum rblk_status status = RBLK_OK;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return RBLK_NO_MEMORY;
	mutex_lock(&rblk_srv_lock);
	session = rblk_srv_session_find(&path->session_id);
	if (session)
		goto found;
	session = fresh;
	fresh = NULL;
	session->id = path->session_id;
	strscpy(session->client, client, sizeof(session->client));
	INIT_LIST_HEAD(&session->paths);
	list_add_tail(&session->entry, &rblk_srv_sessions);
	rblk_srv_changes++;
	cmd = RBLK_SERVER_CMD_SESSION_ADD_NTF;
found:
	if (strcmp(session->client, client)) {
		status = RBLK_DENIED;
	} else {
		list_add_tail(&path->session_entry, &session->paths);
		path->session = session;
		rblk_srv_notify_session(session, cmd);
	}
	mutex_unlock(&rblk_srv_lock);
	kfree(fresh);
	return status;
}

/**
 * rblk_srv_session_leave - take a path out of its session, which ends with the last
 * @path: the path, which has nothing open any more; one in no session is left alone
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_session_leave(struct rblk_srv_path *path)
{
	struct rblk_srv_session *session = path->session;

	if (!session)
		return;
	mutex_lock(&rblk_srv_lock);
	list_del(&path->session_entry);
	path->session = NULL;
	if (list_empty(&session->paths)) {
		rblk_srv_notify_session(session, RBLK_SERVER_CMD_SESSION_REMOVE_NTF);
		list_del(&session->entry);
		rblk_srv_changes++;
		kfree(session);
	} else {
		rblk_srv_notify_session(session, RBLK_SERVER_CMD_SESSION_CHANGE_NTF);
	}
	mutex_unlock(&rblk_srv_lock);
}

/**
 * rblk_srv_fenced - is an attempt to connect a path too old?
 * @req: what the client said
 *
 * Context: Process context. The caller holds rblk_srv_lock.
 * Return: true if another path has ended that generation, or a later one.
 */
bool rblk_srv_fenced(const struct rblk_req *req)
{
	const struct rblk_srv_session *session = rblk_srv_session_find(&req->session);

	return session && req->generation <= session->fenced[req->path];
}

/* Not as long as it may take: two paths may wait for each other's end. */
static bool rblk_srv_wait_ended(struct rblk_srv_path *path, struct rblk_srv_path *old)
{
	unsigned long deadline = jiffies + RBLK_SRV_FENCE_TIMEOUT;

	while (!wait_for_completion_timeout(&old->ended, RBLK_SRV_FENCE_LOOK))
		if (time_after(jiffies, deadline) ||
		    READ_ONCE(path->state) == RBLK_SRV_ENDING)
			return false;
	return true;
}

/**
 * rblk_srv_fence - end another path of a client's session
 * @path: the path on which the client asks
 * @fence: which one, up to which generation
 *
 * Context: Process context. Sleeps, for RBLK_SRV_FENCE_TIMEOUT at the most. The caller
 * holds the path's lock.
 * Return: RBLK_OK, and nothing that was sent on it can have an effect any more; or why that
 * is not so.
 */
enum rblk_status rblk_srv_fence(struct rblk_srv_path *path, const struct rblk_msg_fence *fence)
{
	u32 *fenced = &path->session->fenced[fence->path];
	enum rblk_status status = RBLK_OK;
	struct rblk_srv_path *old;

	lockdep_assert_held(&path->lock);
	if (fence->path == path->index)
		return RBLK_MALFORMED;
	if (rblk_fault_unfenced())
		return RBLK_OK;
	if (rblk_fault(RBLK_FAULT_FENCE))
		return RBLK_INTERNAL;
	mutex_lock(&rblk_srv_lock);
	*fenced = max(*fenced, fence->generation);
	old = rblk_srv_path_find(&path->session_id, fence->path);
	mutex_unlock(&rblk_srv_lock);
	if (!old)
		return RBLK_OK;
	/* A newer one came only after the older one had ended. */
	if (old->generation <= fence->generation) {
		rblk_srv_path_error(old, -ESTALE, "the client goes on without it");
		if (!rblk_srv_wait_ended(path, old))
			status = RBLK_INTERNAL;
	}
	rblk_srv_path_put(old);
	return status;
}

/* Begin to end the paths of a session, also one that has not said hello; how many. */
static u32 rblk_srv_session_break(const uuid_t *id, struct rblk_srv_path **paths)
{
	struct rblk_srv_path *path;
	u32 nr = 0;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry) {
		if (nr == RBLK_PATHS_MAX || !uuid_equal(&path->session_id, id))
			continue;
		rblk_srv_path_error(path, -ECANCELED, "its session was kicked");
		kref_get(&path->ref);
		paths[nr++] = path;
	}
	return nr;
}

/**
 * rblk_srv_session_kick - cut all paths of a session
 * @id: its id
 * @extack: takes the reason of a refusal
 *
 * What the client sets up from then on is let in as ever: to keep it out is for the
 * access lists. So only the paths of now are waited for.
 *
 * Context: Process context. Sleeps, for RBLK_SRV_KICK_TIMEOUT at the most.
 * Return: 0, and no queue pair, key or open that it had when it was called is left. -ENOENT.
 * -EBUSY, and paths of it are ending still. -ENOMEM, and nothing was done.
 */
int rblk_srv_session_kick(const uuid_t *id, struct netlink_ext_ack *extack)
{
	unsigned long deadline = jiffies + RBLK_SRV_KICK_TIMEOUT;
	struct rblk_srv_path **paths;
	int err = -ENOENT;
	u32 i, nr = 0;
	long left;

	paths = kcalloc(RBLK_PATHS_MAX, sizeof(*paths), GFP_KERNEL);
	if (!paths) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return -ENOMEM;
	}
	mutex_lock(&rblk_srv_lock);
	if (rblk_srv_session_find(id)) {
		err = 0;
		nr = rblk_srv_session_break(id, paths);
	} else {
		NL_SET_ERR_MSG(extack, "there is no session of this id");
	}
	mutex_unlock(&rblk_srv_lock);
	for (i = 0; i < nr; i++) {
		left = max_t(long, deadline - jiffies, 1);
		if (!wait_for_completion_timeout(&paths[i]->ended, left)) {
			NL_SET_ERR_MSG(extack, "a path did not end in time, its end goes on");
			err = -EBUSY;
		}
		rblk_srv_path_put(paths[i]);
	}
	kfree(paths);
	return err;
}
