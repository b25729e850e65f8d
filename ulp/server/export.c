// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: what is offered, to whom, and who has it open.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

/* For a look at who is not gone yet. */
#define RBLK_SRV_REMOVE_LOOK	(30 * HZ)

LIST_HEAD(rblk_srv_exports);
static u32 rblk_srv_nr_exports;

static void rblk_srv_export_release(struct kref *ref)
{
	struct rblk_srv_export *export = container_of(ref, struct rblk_srv_export, ref);

	rblk_srv_memory_free(&export->memory);
	rblk_srv_disk_close(export);
	kfree(export->allow);
	kfree(export);
}

/**
 * rblk_srv_export_put - give a reference back
 * @export: the export
 *
 * Context: Process context. Sleeps. The caller holds no lock of ours but a path's.
 */
void rblk_srv_export_put(struct rblk_srv_export *export)
{
	kref_put(&export->ref, rblk_srv_export_release);
}

/**
 * rblk_srv_export_find - find an export by its name
 * @name: the name
 *
 * Context: Process context. The caller holds rblk_srv_lock.
 * Return: the export or NULL.
 */
struct rblk_srv_export *rblk_srv_export_find(const char *name)
{
	struct rblk_srv_export *export;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(export, &rblk_srv_exports, entry)
		if (!strcmp(export->name, name))
			return export;
	return NULL;
}

/**
 * rblk_srv_export_add - offer memory, or a disk
 * @args: what was asked; @args->allow is taken over, also when it fails, and @args->device
 *	when it does not: then it is NULL
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, interruptible.
 * Return: 0, or a negative errno and nothing is left of it.
 */
int rblk_srv_export_add(struct rblk_srv_export_args *args, struct netlink_ext_ack *extack)
{
	struct rblk_srv_export *export;
	const char *what;
	int err;

	export = kzalloc(sizeof(*export), GFP_KERNEL);
	if (!export) {
		kfree(args->allow);
		return -ENOMEM;
	}
	kref_init(&export->ref);
	INIT_LIST_HEAD(&export->entry);
	strscpy(export->name, args->name, sizeof(export->name));
	uuid_gen(&export->incarnation);
	/* That of another export of this name must not pass for one of this one. */
	export->writer_epoch = get_random_u32();
	export->size = args->size;
	export->numa_node = args->numa_node;
	export->shared = args->shared;
	export->read_only = args->read_only;
	export->allow_any = args->allow_any;
	export->nr_allow = args->nr_allow;
	export->allow = args->allow;

	/* Outside the lock: it takes a while. */
	err = args->device ? rblk_srv_disk_open(export, args, &what) :
	      rblk_srv_memory_alloc(&export->memory, args->size, args->numa_node, &what);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "%s", what);
		goto err_put;
	}
	mutex_lock(&rblk_srv_lock);
	if (rblk_srv_export_find(export->name)) {
		NL_SET_ERR_MSG(extack, "an export of this name exists");
		err = -EEXIST;
	} else if (rblk_srv_nr_exports >= RBLK_SRV_EXPORTS_MAX) {
		NL_SET_ERR_MSG(extack, "there are as many exports as there can be");
		err = -ENOSPC;
	} else {
		list_add_tail(&export->entry, &rblk_srv_exports);
		rblk_srv_changes++;
		rblk_srv_nr_exports++;
		rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_ADD_NTF);
	}
	mutex_unlock(&rblk_srv_lock);
	if (err)
		goto err_put;
	return 0;

err_put:
	rblk_srv_export_put(export);
	return err;
}

static bool rblk_srv_open_already(const struct rblk_srv_path *path,
				  const struct rblk_srv_export *export)
{
	const struct rblk_srv_open *open;

	list_for_each_entry(open, &path->opens, entry)
		if (open->export == export)
			return true;
	return false;
}

/* Readers and writers are sessions: with a path more a session is still one. */
static bool rblk_srv_open_elsewhere(const struct rblk_srv_path *path,
				    const struct rblk_srv_export *export, bool read_only)
{
	const struct rblk_srv_path *other;
	const struct rblk_srv_open *open;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(other, &path->session->paths, session_entry) {
		if (other == path)
			continue;
		list_for_each_entry(open, &other->opens, entry)
			if (open->export == export && open->read_only == read_only)
				return true;
	}
	return false;
}

/**
 * rblk_srv_export_use - open an export for a client
 * @msg: what it asks
 * @path: who asks; it has said hello
 * @open: says whether for reading only; takes the export, and is in the path's
 *	list afterwards; undone with rblk_srv_export_unuse()
 *
 * All at once under the lock, so that a removal by force either finds the open or
 * comes before it.
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK, or why not. A client that the access list does not name learns
 * nothing else about an export.
 */
enum rblk_status rblk_srv_export_use(const struct rblk_msg_open *msg, struct rblk_srv_path *path,
				     struct rblk_srv_open *open)
{
	enum rblk_status status = RBLK_OK;
	struct rblk_srv_export *export;
	bool again = false;

	lockdep_assert_held(&path->lock);
	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(msg->export);
	if (export)
		again = rblk_srv_open_elsewhere(path, export, open->read_only);
	if (!export)
		status = RBLK_NO_EXPORT;
	else if (!rblk_srv_client_allowed(export, path->session->client))
		status = RBLK_DENIED;
	else if (rblk_srv_open_already(path, export))
		status = RBLK_DUPLICATE;
	else if (!open->read_only && export->read_only)
		status = RBLK_READ_ONLY;
	/*
	 * Before it counts as the next writer, and costs the one there is its content. An
	 * export that never had one, or none but this one that looks twice, is new: the client
	 * finds that by itself.
	 */
	else if (msg->flags & RBLK_OPEN_AGAIN && !export->shared &&
		 !uuid_is_null(&export->last_writer) &&
		 !uuid_equal(&export->last_writer, &path->session_id) &&
		 export->writer_epoch != msg->writer_epoch)
		status = RBLK_WRITTEN;
	else if (!open->read_only && export->writers && !export->shared && !again)
		status = RBLK_BUSY;
	/* Also the one who is robbed, on another of its paths. */
	else if (!open->read_only && export->thief && export->thief != path->session)
		status = RBLK_BUSY;
	if (status == RBLK_OK) {
		kref_get(&export->ref);
		if (!again && open->read_only)
			export->readers++;
		else if (!again)
			export->writers++;
		/*
		 * It was never open since it was exported here: this node was started anew, which
		 * a disk outlives. Who wrote before is forgotten. Another writer since then would
		 * be the last one; that there was none before is known where only one may.
		 */
		if (export->disk && msg->flags & RBLK_OPEN_AGAIN && export->nr_allow == 1 &&
		    !export->allow_any && uuid_is_null(&export->last_writer)) {
			export->last_writer = path->session_id;
			export->writer_epoch = msg->writer_epoch;
		}
		open->export = export;
		list_add_tail(&open->entry, &path->opens);
		rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
	}
	mutex_unlock(&rblk_srv_lock);
	return status;
}

/**
 * rblk_srv_export_written - note who has an export open, now that it could write
 * @open: the open, registered
 * @path: its path
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: the writer epoch: another number each time another session than the last
 * one has it open for writing.
 */
u32 rblk_srv_export_written(struct rblk_srv_open *open, const struct rblk_srv_path *path)
{
	struct rblk_srv_export *export = open->export;
	u32 epoch;

	lockdep_assert_held(&path->lock);
	mutex_lock(&rblk_srv_lock);
	if (!open->read_only && !uuid_equal(&export->last_writer, &path->session_id)) {
		export->last_writer = path->session_id;
		export->writer_epoch++;
	}
	epoch = export->writer_epoch;
	mutex_unlock(&rblk_srv_lock);
	return epoch;
}

/**
 * rblk_srv_export_unuse - a client has an export open no longer
 * @open: the open; no key of it is valid any more
 * @path: its path
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 */
void rblk_srv_export_unuse(struct rblk_srv_open *open, const struct rblk_srv_path *path)
{
	struct rblk_srv_export *export = open->export;
	bool still;

	mutex_lock(&rblk_srv_lock);
	list_del(&open->entry);
	still = rblk_srv_open_elsewhere(path, export, open->read_only);
	if (!still && open->read_only)
		export->readers--;
	else if (!still)
		export->writers--;
	/* Of a removed one nobody hears any more. */
	if (!list_empty(&export->entry))
		rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
	mutex_unlock(&rblk_srv_lock);
	/* First: who waits for it takes the disk for given back. */
	rblk_srv_export_put(export);
	rblk_srv_withdraw_closed();
}

/**
 * rblk_srv_export_remove - withdraw an export
 * @name: its name
 * @force: although clients have it open; they are told to close it, and cut off
 *	if they do not
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, for a bounded time. When it returns 0, no
 * client can reach the memory.
 * Return: 0, -ENOENT or -EBUSY.
 */
int rblk_srv_export_remove(const char *name, bool force, struct netlink_ext_ack *extack)
{
	struct rblk_srv_withdraw what = {
		.reason	= RBLK_OK,
		.grace	= RBLK_SRV_REVOKE_TIMEOUT,
	};
	struct rblk_srv_export *export;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(name);
	if (!export) {
		NL_SET_ERR_MSG(extack, "there is no export of this name");
		err = -ENOENT;
	} else if (!force && (export->readers || export->writers)) {
		NL_SET_ERR_MSG_FMT(extack, "%u clients have it open for writing, %u for reading",
				   export->writers, export->readers);
		err = -EBUSY;
	} else {
		rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_REMOVE_NTF);
		list_del_init(&export->entry);
		rblk_srv_changes++;
		rblk_srv_nr_exports--;
		/* Unlisted, so nobody opens it any more. */
		what.export = export;
		rblk_srv_withdraw_begin(&what);
	}
	mutex_unlock(&rblk_srv_lock);
	if (err)
		return err;
	/* There is no way back: what it promises must come true. */
	while (!rblk_srv_withdraw_wait(&what, jiffies + RBLK_SRV_REMOVE_LOOK))
		;
	rblk_srv_export_put(export);
	return 0;
}

/**
 * rblk_srv_export_remove_all - withdraw all exports, for module unload
 *
 * Context: Process context. Sleeps. No path is left.
 */
void rblk_srv_export_remove_all(void)
{
	char name[RBLK_NAME_SIZE];
	struct rblk_srv_export *export;

	for (;;) {
		mutex_lock(&rblk_srv_lock);
		export = list_first_entry_or_null(&rblk_srv_exports, struct rblk_srv_export, entry);
		if (export)
			strscpy(name, export->name, sizeof(name));
		mutex_unlock(&rblk_srv_lock);
		if (!export)
			break;
		rblk_srv_export_remove(name, true, NULL);
	}
}
