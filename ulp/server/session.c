// SPDX-License-Identifier: GPL-2.0
/* Sessions at the server: which paths belong to one client. */
#include <linux/slab.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

LIST_HEAD(rblk_srv_sessions);

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
	list_for_each_entry(session, &rblk_srv_sessions, entry)
		if (uuid_equal(&session->id, &path->session_id))
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
