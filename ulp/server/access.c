// SPDX-License-Identifier: GPL-2.0
/* Who may open an export, and what becomes of those who may no longer. */
#include <linux/slab.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

/* For those who are denied to lose what they have open. */
#define RBLK_SRV_UNALLOW_TIMEOUT	(25 * HZ)

static bool rblk_srv_access_find(char (*allow)[RBLK_NAME_SIZE], u32 nr, const char *client, u32 *at)
{
	for (*at = 0; *at < nr; (*at)++)
		if (!strcmp(allow[*at], client))
			return true;
	return false;
}

/**
 * rblk_srv_client_allowed - may a client open an export?
 * @export: the export
 * @client: what the client calls itself
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 * Return: whether the access list has it.
 */
bool rblk_srv_client_allowed(const struct rblk_srv_export *export, const char *client)
{
	u32 at;

	lockdep_assert_held(&rblk_srv_lock);
	return export->allow_any ||
	       rblk_srv_access_find(export->allow, export->nr_allow, client, &at);
}

/**
 * rblk_srv_export_allow - let more clients open an export
 * @args: its name, and which clients; one that may already is no error
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps.
 * Return: 0; or -ENOENT, -ENOSPC or -ENOMEM, and the list is as before.
 */
int rblk_srv_export_allow(const struct rblk_srv_export_args *args, struct netlink_ext_ack *extack)
{
	struct rblk_srv_export *export;
	char (*allow)[RBLK_NAME_SIZE];
	u32 i, at, nr;
	int err = 0;

	allow = kcalloc(RBLK_SRV_ALLOW_MAX, sizeof(*allow), GFP_KERNEL);
	if (!allow) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return -ENOMEM;
	}
	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(args->name);
	if (!export) {
		NL_SET_ERR_MSG(extack, "there is no export of this name");
		err = -ENOENT;
		goto out;
	}
	nr = export->nr_allow;
	if (nr)
		memcpy(allow, export->allow, nr * sizeof(*allow));
	for (i = 0; i < args->nr_allow; i++) {
		if (rblk_srv_access_find(allow, nr, args->allow[i], &at))
			continue;
		if (nr == RBLK_SRV_ALLOW_MAX) {
			NL_SET_ERR_MSG(extack, "more clients than an export can name");
			err = -ENOSPC;
			goto out;
		}
		strscpy(allow[nr++], args->allow[i], sizeof(*allow));
	}
	swap(export->allow, allow);
	export->nr_allow = nr;
	export->allow_any |= args->allow_any;
	rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
out:
	mutex_unlock(&rblk_srv_lock);
	kfree(allow);
	return err;
}

/* Is each of them on the list, and off it means denied? */
static int rblk_srv_unallow_check(const struct rblk_srv_export *export,
				  struct rblk_srv_export_args *args,
				  struct netlink_ext_ack *extack)
{
	u32 at;

	if (args->allow_any && !export->allow_any) {
		args->bad = RBLK_SRV_BAD_ANY;
		NL_SET_ERR_MSG(extack, "it is not so that every client may open it");
		return -ENOENT;
	}
	for (args->bad = 0; args->bad < args->nr_allow; args->bad++) {
		if (!rblk_srv_access_find(export->allow, export->nr_allow,
					  args->allow[args->bad], &at)) {
			NL_SET_ERR_MSG(extack, "its access list does not name this client");
			return -ENOENT;
		}
		/* Who asks for this wants somebody out, who would not be. */
		if (export->allow_any && !args->allow_any) {
			NL_SET_ERR_MSG(extack, "every client may open it, this one too");
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * rblk_srv_export_unallow - let clients open an export no longer
 * @args: its name, and which clients; @args->bad says which one a refusal is about, and is
 *	@args->nr_allow if it is about none
 * @extack: takes the reason of a refusal
 *
 * What those have open on it that nothing on the list lets in any more is withdrawn.
 *
 * Context: Process context. Sleeps, for RBLK_SRV_UNALLOW_TIMEOUT at the most.
 * Return: 0, and they have no key to it any more. -ENOENT or -EINVAL, and nothing was changed.
 * -EBUSY: they are denied, but a path of one is ending still.
 */
int rblk_srv_export_unallow(struct rblk_srv_export_args *args, struct netlink_ext_ack *extack)
{
	struct rblk_srv_withdraw what = {
		.reason	= RBLK_DENIED,
		.grace	= RBLK_SRV_REVOKE_TIMEOUT,
	};
	struct rblk_srv_export *export;
	u32 i, at;
	int err;

	args->bad = args->nr_allow;
	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(args->name);
	if (!export) {
		NL_SET_ERR_MSG(extack, "there is no export of this name");
		err = -ENOENT;
	} else {
		err = rblk_srv_unallow_check(export, args, extack);
	}
	if (err) {
		mutex_unlock(&rblk_srv_lock);
		return err;
	}
	for (i = 0; i < args->nr_allow; i++) {
		/* Each time that it is there: whoever made the list may have named it twice. */
		while (rblk_srv_access_find(export->allow, export->nr_allow, args->allow[i], &at)) {
			export->nr_allow--;
			memmove(export->allow + at, export->allow + at + 1,
				(export->nr_allow - at) * sizeof(*export->allow));
		}
	}
	export->allow_any &= !args->allow_any;
	kref_get(&export->ref);
	what.export = export;
	/* With the list: an open was granted before and is found, or is denied. */
	rblk_srv_withdraw_begin(&what);
	rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
	mutex_unlock(&rblk_srv_lock);
	if (!rblk_srv_withdraw_wait(&what, jiffies + RBLK_SRV_UNALLOW_TIMEOUT)) {
		NL_SET_ERR_MSG(extack, "denied, but a path did not end in time, its end goes on");
		err = -EBUSY;
	}
	rblk_srv_export_put(export);
	return err;
}
